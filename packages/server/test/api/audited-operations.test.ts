import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { type AllOperations, allOperations, auditActions, type Operation } from '@bothost/contract';
import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import { sendRawRequest } from '../support/ask.ts';
import { insertTestBuild } from '../support/build-rows.ts';
import { startDailyStandIn } from '../support/daily.ts';
import { createVersionedBot, uploadAndBuildProject } from '../support/deploys.ts';
import { startOpenIdProvider } from '../support/openid-provider.ts';
import {
  createFakeBrowser,
  createOperatorClient,
  parseLinkToken,
  signUpPerson,
  testPassword,
} from '../support/people.ts';
import { createUniqueName } from '../support/unique-name.ts';
import { useDatabase, useTestServer } from '../support/use-test-server.ts';

type Name = keyof AllOperations;

/** Operations that change something, but leave no audit entry. The value is the reason. */
const unaudited: { readonly [Name in keyof AllOperations]?: string } = {
  describeLink: 'only reads the link that its body names',
  startOpenIdSignIn: 'the person is not known yet; the sign-in that follows has an entry',
  startDeviceLogin: 'the person is not known yet; the sign-in that follows has an entry',
  startSession: 'each session has a record of its own, and starts must not wait for the lock of the audit log',
  getBuildUploadUrl: 'an upload is temporary; the build that uses it has an entry',
};

const isRefusedAlways = ({ errors }: Operation) => errors.includes('not-offered');
const changing = Object.values(allOperations as Readonly<Record<string, Operation>>).filter(
  (operation) => operation.method !== 'GET' && !isRefusedAlways(operation),
);

const openIdClient = { id: 'bothost', secret: 'the secret of the client' };

const provider = await startOpenIdProvider(openIdClient);
const daily = await startDailyStandIn();
const service = await useTestServer({
  bots: { audited: {} },
  environment: {
    BOTHOST_DAILY_API_URL: daily.url,
    BOTHOST_OPENID_ISSUER: provider.issuer,
    BOTHOST_OPENID_CLIENT_ID: openIdClient.id,
    BOTHOST_OPENID_CLIENT_SECRET: openIdClient.secret,
    BOTHOST_LIVEKIT_URL: 'wss://livekit.example.com',
    BOTHOST_LIVEKIT_API_KEY: 'key',
    BOTHOST_LIVEKIT_API_SECRET: 'secret',
  },
});
const db = await useDatabase(service);
const ada = await signUpPerson(service, 'ada');
const buildId = (await uploadAndBuildProject(service, createVersionedBot('1'))).id;
afterAll(async () => {
  provider.close();
  await daily.close();
});

/** The entries of all organizations that `work` adds, oldest first. */
async function entriesOf(work: () => Promise<unknown>) {
  const list = () => db.selectFrom('audit_events').selectAll().orderBy('at').orderBy('sequence').execute();
  const before = new Set((await list()).map(({ hash }) => hash.toString('hex')));
  await work();
  return (await list()).filter(({ hash }) => !before.has(hash.toString('hex')));
}

const home = () => ada.within(service.organization);
const operator = () => createOperatorClient(service);
const anybody = () => createFakeBrowser(service.url).client;
const person = () => signUpPerson(service, createUniqueName('person'));

/** Sends a request of a Pipecat Cloud client, which the typed client does not offer. */
async function send(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const { status, json } = await sendRawRequest(service, method, `/organizations/${service.organization}${path}`, body);
  expect(status).toBeLessThan(300);
  return json;
}

async function createAgent(): Promise<string> {
  const serviceName = createUniqueName('walked');
  await service.client.createAgent({ body: { serviceName, buildId } });
  return serviceName;
}

async function startSession(): Promise<string> {
  const { sessionId = '' } = await service.publicClient.startSession({ params: { agentName: 'audited' } });
  return sessionId;
}

async function createSet(): Promise<string> {
  const setName = createUniqueName('walked-set');
  const secrets = ['A', 'B'].map((secretKey) => ({ secretKey, secretValue: 'x' }));
  await service.client.putSecrets({ params: { setName }, body: { secrets } });
  return setName;
}

/** Returns the id of a webhook. Deletes the others, because their number is limited. */
async function createWebhook(): Promise<string> {
  for (const { id } of (await service.client.listWebhooks()).webhooks) {
    await service.client.deleteWebhook({ params: { webhookId: id } });
  }
  const body = { url: 'https://hooks.invalid/', events: ['session.failed' as const] };
  return (await service.client.createWebhook({ body })).id;
}

/** Returns the operator's client when no task of the vault runs. The organization has a secret, so that tasks work on it. */
async function operatorOfIdleVault() {
  await createSet();
  const client = await operator();
  await expect.poll(async () => (await client.getVault()).tasks.every(({ state }) => state !== 'running')).toBe(true);
  return client;
}

const createLink = async () => parseLinkToken((await home().createInvitation({ body: { role: 'viewer' } })).url);

const connectDaily = () =>
  service.client.connectRooms({ params: { provider: 'daily' }, body: { apiKey: daily.apiKey } });

async function approveDevice(approve: boolean): Promise<string> {
  const login = await anybody().startDeviceLogin({ body: { client_id: 'botcli', device_name: 'laptop' } });
  await ada.client.decideDeviceLogin({ params: { userCode: login.user_code }, body: { approve } });
  return login.device_code;
}

const verifier = 'v'.repeat(43);
const authorization = {
  client_id: 'pipecat-cli',
  response_type: 'code',
  redirect_uri: 'http://127.0.0.1:8400/oauth_callback',
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
} as const;
const authorize = async (approve: boolean) =>
  new URL((await ada.client.decideAuthorization({ body: { ...authorization, approve } })).redirectUrl);

/**
 * One successful request of each operation. The first function prepares it, and returns the second one, whose entries are
 * examined.
 */
const requests: { readonly [Name in keyof AllOperations]?: () => Promise<() => Promise<unknown>> } = {
  updateProperties: async () => () => service.client.updateProperties({ body: { defaultRegion: 'us-west' } }),
  createKey: async () => () => service.client.createKey({ body: { name: 'walk', kind: 'private' } }),
  revokeKey: async () => {
    const { id: keyId } = await service.client.createKey({ body: { name: 'walk', kind: 'private' } });
    return () => service.client.revokeKey({ params: { keyId } });
  },
  createAgent: async () => createAgent,
  updateAgent: async () => {
    const agentName = await createAgent();
    return () => service.client.updateAgent({ params: { agentName }, body: { maxSessionDuration: 60 } });
  },
  deleteAgent: async () => {
    const agentName = await createAgent();
    return () => service.client.deleteAgent({ params: { agentName } });
  },
  rollback: async () => {
    const agentName = await createAgent();
    const { desiredDeploymentId: deploymentId } = await service.client.getAgent({ params: { agentName } });
    return () => service.client.rollback({ params: { agentName }, body: { deploymentId } });
  },
  connectPhone: async () => {
    const request = { params: { carrier: 'twilio' }, body: { credential: 'a'.repeat(32) } };
    return () => service.client.connectPhone(request);
  },
  disconnectPhone: async () => {
    await service.client.connectPhone({ params: { carrier: 'twilio' }, body: { credential: 'a'.repeat(32) } });
    return () => service.client.disconnectPhone({ params: { carrier: 'twilio' } });
  },
  rotateAnswerUrls: async () => {
    const agentName = await createAgent();
    return () => service.client.rotateAnswerUrls({ params: { agentName } });
  },
  startMemberSession: async () => () => home().startMemberSession({ params: { agentName: 'audited' } }),
  admitParticipant: async () => {
    const sessionId = await startSession();
    await db.updateTable('sessions').set({ transport: 'livekit' }).where('id', '=', sessionId).execute();
    return () => service.client.admitParticipant({ params: { agentName: 'audited', sessionId } });
  },
  stopSession: async () => {
    const sessionId = await startSession();
    return () => service.client.stopSession({ params: { agentName: 'audited', sessionId } });
  },
  deleteSessionConversation: async () => {
    const sessionId = await startSession();
    await service.client.stopSession({ params: { agentName: 'audited', sessionId } });
    const read = () => service.client.getSessionConversation({ params: { agentName: 'audited', sessionId } });
    await expect.poll(async () => (await read()).state, { timeout: 20_000 }).not.toBe('live');
    return () => service.client.deleteSessionConversation({ params: { agentName: 'audited', sessionId } });
  },
  createBuild: async () => () => uploadAndBuildProject(service, createVersionedBot('2')),
  cancelBuild: async () => {
    const { organization_id: organizationId } = await db
      .selectFrom('builds')
      .select('organization_id')
      .where('id', '=', buildId)
      .executeTakeFirstOrThrow();
    const { id } = await insertTestBuild(db, organizationId, {
      state: 'canceled',
      error_code: 'build-canceled',
      completed_at: new Date(),
    });
    return () => service.client.cancelBuild({ params: { buildId: id } });
  },
  connectRooms: async () => connectDaily,
  disconnectRooms: async () => {
    await connectDaily();
    return () => service.client.disconnectRooms({ params: { provider: 'daily' } });
  },
  putSecrets: async () => createSet,
  deleteSecret: async () => {
    const setName = await createSet();
    return () => service.client.deleteSecret({ params: { setName, secretKey: 'A' } });
  },
  deleteSecretSet: async () => {
    const setName = await createSet();
    return () => service.client.deleteSecretSet({ params: { setName } });
  },
  rollBackSecrets: async () => {
    const setName = await createSet();
    return () => service.client.rollBackSecrets({ params: { setName }, body: { revision: 1 } });
  },
  verifyImagePullSecret: async () => {
    const setName = createUniqueName('walked-pull');
    await service.client.putSecrets({
      params: { setName },
      body: { isImagePullSecret: true, host: 'registry.invalid', secretValue: btoa('me:x') },
    });
    return () => service.client.verifyImagePullSecret({ params: { setName } });
  },
  createWebhook: async () => () =>
    service.client.createWebhook({ body: { url: 'https://hooks.invalid/', events: ['session.failed'] } }),
  updateWebhook: async () => {
    const webhookId = await createWebhook();
    return () => service.client.updateWebhook({ params: { webhookId }, body: { enabled: false } });
  },
  rotateWebhookSecret: async () => {
    const webhookId = await createWebhook();
    return () => service.client.rotateWebhookSecret({ params: { webhookId } });
  },
  deleteWebhook: async () => {
    const webhookId = await createWebhook();
    return () => service.client.deleteWebhook({ params: { webhookId } });
  },
  testWebhook: async () => {
    const webhookId = await createWebhook();
    return () => service.client.testWebhook({ params: { webhookId } });
  },
  resendWebhookDelivery: async () => {
    const webhookId = await createWebhook();
    const { eventId } = await service.client.testWebhook({ params: { webhookId } });
    return () => service.client.resendWebhookDelivery({ params: { webhookId, eventId } });
  },
  createAlert: async () => () =>
    service.client.createAlert({ params: { agentName: 'audited' }, body: { kind: 'failed_deployment' } }),
  deleteAlert: async () => {
    const params = { agentName: 'audited' };
    const { id: alertId } = await service.client.createAlert({ params, body: { kind: 'failed_deployment' } });
    return () => service.client.deleteAlert({ params: { ...params, alertId } });
  },
  verifyVault: async () => {
    const client = await operatorOfIdleVault();
    return () => client.verifyVault();
  },
  rotateVault: async () => {
    const client = await operatorOfIdleVault();
    return () => client.rotateVault({ body: { layer: 'organization' } });
  },
  createOperatorKey: async () => {
    const client = await operator();
    return () => client.createOperatorKey({ body: { organization: service.organization, name: 'walk' } });
  },
  createOperatorInvitation: async () => {
    const client = await operator();
    return () => client.createOperatorInvitation({ body: { organization: service.organization, role: 'viewer' } });
  },
  createPasswordReset: async () => {
    const client = await operator();
    return () => client.createPasswordReset({ body: { email: ada.email } });
  },
  signIn: async () => () => anybody().signIn({ body: { email: ada.email, password: testPassword } }),
  signUp: async () => {
    const token = await createLink();
    const email = `${createUniqueName('new')}@example.com`;
    return () => anybody().signUp({ body: { token, email, name: 'New', password: testPassword } });
  },
  resetPassword: async () => {
    const { email } = await person();
    const { url } = await (await operator()).createPasswordReset({ body: { email } });
    return () => anybody().resetPassword({ body: { token: parseLinkToken(url), password: 'two parrots, one branch' } });
  },
  finishOpenIdSignIn: async () => {
    const claims = { sub: 'bo', email: 'bo@example.com', email_verified: true, name: 'Bo' };
    const signIn = async (browser = createFakeBrowser(service.url)) => {
      const { url } = await browser.client.startOpenIdSignIn();
      await browser.client.finishOpenIdSignIn({ body: provider.signIn(url, claims) });
      return browser;
    };
    const { client } = await signIn();
    await client.createOrganization({ body: { name: 'openid' } });
    return signIn;
  },
  pollDeviceLogin: async () => {
    const code = await approveDevice(true);
    const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
    return () => anybody().pollDeviceLogin({ body: { client_id: 'botcli', device_code: code, grant_type } });
  },
  exchangeAuthorizationCode: async () => {
    const code = (await authorize(true)).searchParams.get('code') ?? '';
    const { client_id, redirect_uri } = authorization;
    const body = { grant_type: 'authorization_code', code, client_id, redirect_uri, code_verifier: verifier } as const;
    return () => anybody().exchangeAuthorizationCode({ body });
  },
  updateUser: async () => () => ada.client.updateUser({ body: { name: 'Ada Lovelace' } }),
  changeEmail: async () => {
    const { client } = await person();
    const email = `${createUniqueName('changed')}@example.com`;
    return () => client.changeEmail({ body: { email, password: testPassword } });
  },
  changePassword: async () => {
    const { client } = await person();
    const body = { currentPassword: testPassword, newPassword: 'two parrots, one branch' };
    return () => client.changePassword({ body });
  },
  signOut: async () => {
    const { client } = await person();
    return () => client.signOut();
  },
  signOutEverywhere: async () => {
    const { client } = await person();
    return () => client.signOutEverywhere();
  },
  createPersonalToken: async () => () => ada.client.createPersonalToken({ body: { name: 'walk' } }),
  revokePersonalToken: async () => {
    const { id: tokenId } = await ada.client.createPersonalToken({ body: { name: 'walk' } });
    return () => ada.client.revokePersonalToken({ params: { tokenId } });
  },
  decideDeviceLogin: async () => async () => {
    await approveDevice(true);
    await approveDevice(false);
  },
  decideAuthorization: async () => async () => {
    await authorize(true);
    await authorize(false);
  },
  acceptInvitation: async () => {
    const { client } = await person();
    const token = await createLink();
    return () => client.acceptInvitation({ body: { token } });
  },
  createOrganization: async () => () => ada.client.createOrganization({ body: { name: createUniqueName('org') } }),
  updateOrganization: async () => {
    const name = createUniqueName('org');
    await ada.client.createOrganization({ body: { name } });
    return () => ada.within(name).updateOrganization({ body: { verboseName: 'Renamed' } });
  },
  deleteOrganization: async () => {
    const name = createUniqueName('org');
    await ada.client.createOrganization({ body: { name } });
    return () => ada.within(name).deleteOrganization();
  },
  transferOrganization: async () => {
    const name = createUniqueName('org');
    await ada.client.createOrganization({ body: { name } });
    const { user } = await signUpPerson(service, createUniqueName('heir'), 'member', name);
    return () => ada.within(name).transferOrganization({ body: { userId: user.id } });
  },
  leaveOrganization: async () => {
    const { within } = await person();
    return () => within(service.organization).leaveOrganization();
  },
  updateMember: async () => {
    const { user } = await person();
    return () => home().updateMember({ params: { userId: user.id }, body: { role: 'viewer' } });
  },
  removeMember: async () => {
    const { user } = await person();
    return () => home().removeMember({ params: { userId: user.id } });
  },
  createInvitation: async () => createLink,
  revokeInvitation: async () => {
    const { id: invitationId } = await home().createInvitation({ body: { role: 'viewer' } });
    return () => home().revokeInvitation({ params: { invitationId } });
  },
  createApiKey: async () => () => send('POST', '/apiKeys', { name: 'walk', type: 'private' }),
  revokeApiKey: async () => {
    const { id } = await service.client.createKey({ body: { name: 'walk', kind: 'private' } });
    return () => send('DELETE', `/apiKeys/${id}`);
  },
  createService: async () => () => send('POST', '/services', { serviceName: createUniqueName('walked'), buildId }),
  updateService: async () => {
    const serviceName = await createAgent();
    return () => send('PUT', '/services', { serviceName, maxSessionDuration: 60 });
  },
  deleteService: async () => {
    const agentName = await createAgent();
    return () => send('DELETE', `/services/${agentName}`);
  },
  stopServiceSession: async () => {
    const sessionId = await startSession();
    return () => send('DELETE', `/services/audited/sessions/${sessionId}`);
  },
};

/** The results of entries about requests that were not refused. `unreachable` is a result of `verifyImagePullSecret`. */
const doneResults = ['done', 'started', 'unchanged', 'unreachable'];

describe('operations that change something', () => {
  it.each(changing.map((operation) => [operation.name as Name, operation] as const))(
    'leave an entry in the audit log: %s',
    async (name, { audit }) => {
      const prepare = requests[name];
      if (unaudited[name] !== undefined) return expect([prepare, audit]).toEqual([undefined, undefined]);
      if (prepare === undefined) throw new Error(`Add a request of ${name} to this test, or the reason for no entry.`);
      const entries = await entriesOf(await prepare());
      const matching = entries.filter(({ action, result }) => action === audit && doneResults.includes(result));
      expect({ audit, entries, found: matching.length > 0 }).toMatchObject({ audit: expect.any(String), found: true });
      for (const { actor_key_id, actor_user_id, address } of matching) {
        expect([actor_key_id ?? actor_user_id ?? 'operator', address]).toEqual([expect.any(String), '127.0.0.1']);
      }
    },
  );

  it('are all in this test, and no other operation is', () => {
    const names = changing.map(({ name }) => name);
    expect([...Object.keys(requests), ...Object.keys(unaudited)].sort()).toEqual(names.sort());
  });
});

it('docs/operations/vault-and-audit.md lists every action of the audit log', async () => {
  const text = await readFile(new URL('../../../../docs/operations/vault-and-audit.md', import.meta.url), 'utf8');
  expect(auditActions.filter((action) => !text.includes(`\`${action}\``))).toEqual([]);
});

describe('the audit entry', () => {
  const shown = async (work: () => Promise<unknown>) =>
    (await entriesOf(work)).map(({ action, object, keys, result }) => [action, object, keys, result]);

  it('of a change of scaling has the old and the new numbers, and a repeated request is unchanged', async () => {
    const agentName = await createAgent();
    const scale = () =>
      service.client.updateAgent({ params: { agentName }, body: { autoScaling: { minAgents: 1, maxAgents: 3 } } });
    const { autoScaling } = await service.client.getAgent({ params: { agentName } });
    const { minReplicas, maxReplicas } = autoScaling;
    expect(await shown(scale)).toEqual([
      ['agents.scale', agentName, [`min_agents ${minReplicas} > 1`, `max_agents ${maxReplicas} > 3`], 'done'],
    ]);
    expect(await shown(scale)).toEqual([['agents.deploy', agentName, [], 'unchanged']]);
  });

  it('of a new role has the old role, too', async () => {
    const { user, email } = await person();
    const change = () => home().updateMember({ params: { userId: user.id }, body: { role: 'viewer' } });
    expect(await shown(change)).toEqual([['members.update', user.id, [email, 'owner', 'viewer'], 'done']]);
  });

  it('of a refused deploy, rollback, deletion or stop has the reason and the name of the agent', async () => {
    const refused = async () => {
      const params = { agentName: 'missing' };
      await Promise.allSettled([service.client.updateAgent({ params, body: {} })]);
      await Promise.allSettled([service.client.rollback({ params })]);
      await Promise.allSettled([service.client.deleteAgent({ params })]);
      await Promise.allSettled([service.client.stopSession({ params: { ...params, sessionId: 'none' } })]);
    };
    expect(await shown(refused)).toEqual([
      ['agents.deploy', 'missing', [], 'not-found'],
      ['agents.rollback', 'missing', [], 'not-found'],
      ['agents.delete', 'missing', [], 'not-found'],
      ['sessions.stop', 'missing', [], 'not-found'],
    ]);
  });

  it('of a sign-in is in each organization of the account, and so is that of a failed one', async () => {
    const { client, email, user } = await person();
    const other = await client.createOrganization({ body: { name: createUniqueName('other') } });
    const signIn = (password: string) => anybody().signIn({ body: { email, password } });
    const places = async (work: () => Promise<unknown>) =>
      (await entriesOf(work)).map((entry) => [entry.organization_id, entry.action, entry.actor_user_id, entry.result]);
    const homeId = user.organizations[0]?.id;
    const ids = [homeId, other.id].sort();
    expect((await places(() => signIn(testPassword))).sort()).toEqual(
      ids.map((id) => [id, 'account.sign-in', user.id, 'done']),
    );
    const found: unknown[][] = [];
    await expect(signIn('wrong')).rejects.toMatchObject({ reason: 'sign-in-failed' });
    await expect
      .poll(async () => {
        const { rows } = await sql<{ organization_id: string; object: string; keys: string[] }>`
          select organization_id, object, keys from audit_events
          where action = 'account.sign-in' and result = 'sign-in-failed' and actor_user_id is null
          order by organization_id`.execute(db);
        found.splice(
          0,
          found.length,
          ...rows.map(({ organization_id, object, keys }) => [organization_id, object, keys]),
        );
        return found.length;
      })
      .toBe(2);
    expect(found).toEqual(ids.map((id) => [id, user.id, [email]]));
  });

  it('of a failed sign-in does not exist for an unknown account', async () => {
    const body = { email: 'nobody@example.com', password: 'wrong' };
    const attempt = () => expect(anybody().signIn({ body })).rejects.toMatchObject({ reason: 'sign-in-failed' });
    expect(await entriesOf(attempt)).toEqual([]);
  });

  it("of a person's refused request is in each organization of the person", async () => {
    const { client, user } = await person();
    const other = await client.createOrganization({ body: { name: createUniqueName('other') } });
    const refused = () =>
      expect(
        client.changePassword({ body: { currentPassword: 'wrong', newPassword: 'two parrots, one branch' } }),
      ).rejects.toMatchObject({ reason: 'sign-in-failed' });
    const entries = await entriesOf(refused);
    expect(entries.map(({ organization_id, action, result }) => [organization_id, action, result]).sort()).toEqual(
      [user.organizations[0]?.id, other.id].sort().map((id) => [id, 'account.change-password', 'sign-in-failed']),
    );
  });
});
