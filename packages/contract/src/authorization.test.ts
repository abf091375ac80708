import { expect, it } from 'vitest';
import { granteesByOperation, isAuthorizedForOperation, type OperationGrantee } from './authorization.ts';
import type { Operation } from './operation.ts';
import { type AllOperations, allOperations } from './operations/all.ts';

const all = Object.entries(allOperations) as [keyof AllOperations, Operation][];
const namesOf = (grantee: OperationGrantee) =>
  all.map(([name]) => name).filter((name) => isAuthorizedForOperation(name, grantee));

it.each(all)(
  'operation %s is granted only to callers that the `key` property of the operation allows',
  (name, { key }) => {
    const roles = ['owner', 'member', 'viewer'];
    const people = ['session', 'personal-token'];
    const possible = {
      private: [...roles, 'private-key'],
      organization: [...roles, 'private-key'],
      member: roles,
      account: [...people, 'private-key'],
      person: people,
      none: ['unauthenticated'],
      public: ['public-key'],
      operator: ['operator'],
    }[key];
    const grantees: readonly OperationGrantee[] = granteesByOperation[name];
    expect(grantees.length).toBeGreaterThan(0);
    expect(grantees.filter((grantee) => !possible.includes(grantee))).toEqual([]);
  },
);

it('an owner may call every operation that another role or a private key may call in the organization', () => {
  const keys = ['private', 'organization', 'member'];
  const inOrganization = all.filter(([, { key }]) => keys.includes(key)).map(([name]) => name);
  expect(namesOf('owner')).toEqual(inOrganization);
});

it('a member may do everything except manage people, API keys and the organization', () => {
  const refused = namesOf('owner').filter((name) => !isAuthorizedForOperation(name, 'member'));
  expect(refused).toEqual([
    'listKeys',
    'createKey',
    'revokeKey',
    'updateOrganization',
    'deleteOrganization',
    'transferOrganization',
    'updateMember',
    'removeMember',
    'listInvitations',
    'createInvitation',
    'revokeInvitation',
    'listApiKeys',
    'createApiKey',
    'revokeApiKey',
  ]);
});

it('a viewer may only read, leave the organization and, if it allows that, start sessions', () => {
  const methods = namesOf('viewer').map((name) => [name, allOperations[name].method]);
  expect(methods.filter(([, method]) => method !== 'GET')).toEqual([
    ['startMemberSession', 'POST'],
    ['leaveOrganization', 'POST'],
  ]);
  expect(namesOf('viewer')).not.toContain('listAuditEntries');
});

it('a personal token may not create tokens, approve logins, accept invitations, end all sessions or change sign-in data', () => {
  const refused = namesOf('session').filter((name) => !isAuthorizedForOperation(name, 'personal-token'));
  expect(refused).toEqual([
    'changeEmail',
    'changePassword',
    'signOutEverywhere',
    'createPersonalToken',
    'getDeviceLogin',
    'decideDeviceLogin',
    'decideAuthorization',
    'acceptInvitation',
  ]);
});
