import { expect, it } from 'vitest';
import { isAuthorizedForOperation, type OperationGrantee } from './authorization.ts';
import type { Operation } from './operation.ts';
import { type AllOperations, allOperations } from './operations/all.ts';

const all = Object.entries(allOperations) as [keyof AllOperations, Operation][];
const namesOf = (grantee: OperationGrantee) =>
  all.map(([name]) => name).filter((name) => isAuthorizedForOperation(allOperations[name], grantee));

it('an owner may call every operation that another role or a private key may call in the organization', () => {
  const keys = ['private', 'organization', 'member'];
  const inOrganization = all.filter(([, { key }]) => keys.includes(key)).map(([name]) => name);
  expect(namesOf('owner')).toEqual(inOrganization);
});

it('a member may do everything except manage people, API keys and the organization', () => {
  const refused = namesOf('owner').filter((name) => !isAuthorizedForOperation(allOperations[name], 'member'));
  expect(refused.sort()).toEqual([
    'createApiKey',
    'createInvitation',
    'createKey',
    'deleteOrganization',
    'listApiKeys',
    'listInvitations',
    'listKeys',
    'removeMember',
    'revokeApiKey',
    'revokeInvitation',
    'revokeKey',
    'transferOrganization',
    'updateMember',
    'updateOrganization',
  ]);
});

it('a viewer may only read, leave the organization and, if it allows that, start sessions', () => {
  const methods = namesOf('viewer').map((name) => [name, allOperations[name].method]);
  expect(methods.filter(([, method]) => method !== 'GET').sort()).toEqual([
    ['leaveOrganization', 'POST'],
    ['startMemberSession', 'POST'],
  ]);
  expect(namesOf('viewer')).not.toContain('listAuditEntries');
});

it('a personal token may not create tokens, approve logins, accept invitations, end all sessions or change sign-in data', () => {
  const refused = namesOf('session').filter((name) => !isAuthorizedForOperation(allOperations[name], 'personal-token'));
  expect(refused.sort()).toEqual([
    'acceptInvitation',
    'changeEmail',
    'changePassword',
    'createPersonalToken',
    'decideAuthorization',
    'decideDeviceLogin',
    'getDeviceLogin',
    'signOutEverywhere',
  ]);
});
