import { createApiClient } from '@bothost/contract';
import { describe, expect, it } from 'vitest';
import { createFakeBrowser, parseLinkToken, signUpPerson, type TestPerson } from '../support/people.ts';
import { startTestServer } from '../support/test-server.ts';
import { useTestServer } from '../support/use-test-server.ts';

const service = await useTestServer({ bots: { 'member-bot': {} } });
const owner = await signUpPerson(service, 'owner');
const viewer = await signUpPerson(service, 'viewer', 'viewer');

const home = (person: TestPerson) => person.within('test-org');
const lastOwner = { reason: 'last-owner', status: 409 };

describe('members of an organization', () => {
  it('are listed with their roles, which owners can change', async () => {
    const { members } = await home(viewer).listMembers();
    expect(members.map(({ email, role }) => [email, role])).toEqual([
      ['owner@example.com', 'owner'],
      ['viewer@example.com', 'viewer'],
    ]);
    const params = { userId: viewer.user.id };
    await home(owner).updateMember({ params, body: { role: 'member' } });
    expect((await viewer.client.getUser()).organizations).toMatchObject([{ role: 'member' }]);
    await home(owner).updateMember({ params, body: { role: 'viewer' } });
  });

  it('always include an owner, even if two owners leave at the same time', async () => {
    const params = { userId: owner.user.id };
    await expect(home(owner).leaveOrganization()).rejects.toMatchObject(lastOwner);
    await expect(home(owner).removeMember({ params })).rejects.toMatchObject(lastOwner);
    await expect(home(owner).updateMember({ params, body: { role: 'viewer' } })).rejects.toMatchObject(lastOwner);

    await owner.client.createOrganization({ body: { name: 'pair' } });
    const second = await signUpPerson(service, 'second', 'owner', 'pair');
    const leaving = await Promise.allSettled(
      [owner, second].map((person) => person.within('pair').leaveOrganization()),
    );
    expect(leaving.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('lose their access at once when they are removed, even with a personal access token', async () => {
    const person = await signUpPerson(service, 'leaver', 'member');
    const { token } = await person.client.createPersonalToken({ body: { name: 'script' } });
    const script = createApiClient({ origin: service.url, key: token, organization: 'test-org' });
    await script.listAgents();
    await home(owner).removeMember({ params: { userId: person.user.id } });
    const notFound = { reason: 'organization-not-found', status: 404 };
    await expect(script.listAgents()).rejects.toMatchObject(notFound);
    await expect(home(person).listAgents()).rejects.toMatchObject(notFound);
    expect((await person.client.getUser()).organizations).toEqual([]);
  });

  it.each(['missing', '01890000-0000-7000-8000-000000000000'])(
    'cannot be removed by the unknown id %s',
    async (userId) => {
      await expect(home(owner).removeMember({ params: { userId } })).rejects.toMatchObject({
        reason: 'member-not-found',
      });
    },
  );
});

describe('an invitation', () => {
  it('is listed until it is accepted or revoked', async () => {
    const { url, ...invitation } = await home(owner).createInvitation({ body: { role: 'member' } });
    expect((await home(owner).listInvitations()).invitations).toContainEqual(invitation);
    await home(owner).revokeInvitation({ params: { invitationId: invitation.id } });
    expect((await home(owner).listInvitations()).invitations).not.toContainEqual(invitation);
    const { client } = createFakeBrowser(service.url);
    await expect(client.describeLink({ body: { token: parseLinkToken(url) } })).rejects.toMatchObject({
      reason: 'link-invalid',
    });
    await expect(home(owner).revokeInvitation({ params: { invitationId: invitation.id } })).rejects.toMatchObject({
      reason: 'invitation-not-found',
    });
  });

  it('is refused if the organization already has 200 open invitations', async () => {
    await owner.client.createOrganization({ body: { name: 'crowded' } });
    const client = owner.within('crowded');
    for (let index = 0; index < 200; index += 1) await client.createInvitation({ body: { role: 'viewer' } });
    await expect(client.createInvitation({ body: { role: 'viewer' } })).rejects.toMatchObject({
      reason: 'invitations-too-many',
    });
  });
});

describe('an organization', () => {
  it('can be created and renamed by a person, and must have a unique name', async () => {
    const created = await owner.client.createOrganization({ body: { name: 'before', verboseName: 'Before Inc.' } });
    const { key } = await owner.within('before').createKey({ body: { name: 'program', kind: 'private' } });
    const program = createApiClient({ origin: service.url, key });
    const taken = { reason: 'organization-name-taken' };
    await expect(owner.client.createOrganization({ body: { name: 'before' } })).rejects.toMatchObject(taken);
    await expect(owner.within('before').updateOrganization({ body: { name: 'test-org' } })).rejects.toMatchObject(
      taken,
    );
    await program.listOrganizations();
    await owner.within('before').updateOrganization({ body: { name: 'after', verboseName: 'After Inc.' } });
    expect((await program.listOrganizations()).organizations).toEqual([
      { id: created.id, name: 'after', verboseName: 'After Inc.' },
    ]);
    await createApiClient({ origin: service.url, key, organization: 'after' }).listAgents();
  });

  it('can be transferred to a viewer, who becomes its owner', async () => {
    await owner.client.createOrganization({ body: { name: 'moving' } });
    const heir = await signUpPerson(service, 'heir', 'viewer', 'moving');
    const { members } = await owner.within('moving').transferOrganization({ body: { userId: heir.user.id } });
    expect(members.map(({ email, role }) => [email, role])).toEqual([
      ['owner@example.com', 'member'],
      ['heir@example.com', 'owner'],
    ]);
  });

  it('keeps its owner if the owner transfers it to their own user id in upper case', async () => {
    await owner.client.createOrganization({ body: { name: 'staying' } });
    const userId = owner.user.id.toUpperCase();
    const { members } = await owner.within('staying').transferOrganization({ body: { userId } });
    expect(members.map(({ role }) => role)).toEqual(['owner']);
  });

  it('can be deleted with its API keys and memberships, but only if it has no agents and secrets', async () => {
    await expect(home(owner).deleteOrganization()).rejects.toMatchObject({ reason: 'organization-not-empty' });
    await owner.client.createOrganization({ body: { name: 'ending' } });
    const client = owner.within('ending');
    await client.putSecrets({ params: { setName: 'keys' }, body: { secrets: [{ secretKey: 'A', secretValue: 'b' }] } });
    await expect(client.deleteOrganization()).rejects.toMatchObject({ reason: 'organization-not-empty' });
    await client.deleteSecretSet({ params: { setName: 'keys' } });
    const { key } = await client.createKey({ body: { name: 'program', kind: 'private' } });
    await createApiClient({ origin: service.url, key }).listAgents();
    await client.deleteOrganization();
    await expect(createApiClient({ origin: service.url, key }).listAgents()).rejects.toMatchObject({ status: 401 });
    await expect(client.listAgents()).rejects.toMatchObject({ reason: 'organization-not-found' });
    expect((await owner.client.getUser()).organizations.map(({ name }) => name)).not.toContain('ending');
    await owner.client.createOrganization({ body: { name: 'ending' } });
  });

  it('is not deleted if it is the only organization of the service', async () => {
    const alone = await startTestServer();
    const person = await signUpPerson(alone, 'alone');
    await expect(person.within('test-org').deleteOrganization()).rejects.toMatchObject({
      reason: 'last-organization',
    });
    await alone.close();
  });

  it('cannot be created by a person who already owns 20', async () => {
    const person = await signUpPerson(service, 'founder', 'member');
    for (let index = 0; index < 20; index += 1) {
      await person.client.createOrganization({ body: { name: `founded-${index}` } });
    }
    await expect(person.client.createOrganization({ body: { name: 'one-more' } })).rejects.toMatchObject({
      reason: 'organizations-too-many',
    });
  });
});

it('the audit log names the person behind each change and each refused change, and its hash chain verifies', async () => {
  await owner.client.createOrganization({ body: { name: 'audited' } });
  const audited = owner.within('audited');
  const reader = await signUpPerson(service, 'reader', 'viewer', 'audited');
  const params = { setName: 'keys' };
  const body = { secrets: [{ secretKey: 'A', secretValue: 'b' }] };
  await audited.putSecrets({ params, body });
  await expect(reader.within('audited').putSecrets({ params, body })).rejects.toMatchObject({ reason: 'forbidden' });
  const { token, id } = await owner.client.createPersonalToken({ body: { name: 'script' } });
  await createApiClient({ origin: service.url, key: token, organization: 'audited' }).updateMember({
    params: { userId: reader.user.id },
    body: { role: 'member' },
  });
  const { entries } = await audited.listAuditEntries({ query: { order: 'asc' } });
  expect(entries.map(({ action, userEmail, result }) => [action, userEmail, result])).toEqual([
    ['organization.create', 'owner@example.com', 'done'],
    ['members.join', 'owner@example.com', 'done'],
    ['invitations.create', null, 'done'],
    ['members.join', 'reader@example.com', 'done'],
    ['account.sign-in', 'reader@example.com', 'done'],
    ['secrets.set', 'owner@example.com', 'done'],
    ['secrets.set', 'reader@example.com', 'forbidden'],
    ['account.create-token', 'owner@example.com', 'done'],
    ['members.update', 'owner@example.com', 'done'],
  ]);
  expect(entries.at(-1)).toMatchObject({ keyId: id, keyName: 'script', userId: owner.user.id });
  expect(await audited.verifyAudit()).toMatchObject({ ok: true, entries: 9 });
});
