import type { ServiceContext } from '../context.ts';
import type { ApiOperationHandlers } from '../operation-handlers.ts';
import { createOrganization } from '../organizations/lifecycle.ts';
import { toAuditActor } from './account-request.ts';
import { decideAuthorization, exchangeAuthorizationCode } from './authorization-codes.ts';
import { decideDeviceLogin, getDeviceLogin, pollDeviceLogin, startDeviceLogin } from './device-login.ts';
import {
  createInvitation,
  createOperatorInvitation,
  createPasswordReset,
  describeLink,
  listInvitations,
  revokeInvitation,
} from './links.ts';
import { finishOpenIdSignIn, startOpenIdSignIn } from './openid.ts';
import { signIn, signOut, signOutEverywhere } from './sessions.ts';
import { acceptInvitation, resetPassword, signUp } from './sign-up.ts';
import { createPersonalToken, listPersonalTokens, revokePersonalToken } from './tokens.ts';
import { changeEmail, changePassword, getUser, renameUser } from './user.ts';

export function createAccountHandlers(
  context: Pick<ServiceContext, 'db' | 'now' | 'newId' | 'auth' | 'openId' | 'refusals'>,
) {
  return {
    getSignInMethods: async () => ({ password: true, openId: context.openId && { name: context.openId.name } }),
    signIn: async ({ body }, accountRequest) => getUser(context, await signIn(context, accountRequest, body)),
    describeLink: ({ body }, accountRequest) => describeLink(context, accountRequest, body.token),
    signUp: ({ body }, accountRequest) => signUp(context, accountRequest, body),
    resetPassword: ({ body }, accountRequest) => resetPassword(context, accountRequest, body),
    startOpenIdSignIn: (_, accountRequest) => startOpenIdSignIn(context, accountRequest),
    finishOpenIdSignIn: ({ body }, accountRequest) => finishOpenIdSignIn(context, accountRequest, body),
    startDeviceLogin: ({ body }, accountRequest) => startDeviceLogin(context, accountRequest, body),
    pollDeviceLogin: ({ body }, accountRequest) => pollDeviceLogin(context, accountRequest, body),
    exchangeAuthorizationCode: ({ body }, accountRequest) => exchangeAuthorizationCode(context, accountRequest, body),
    getUser: (_, { person }) => getUser(context, person.id),
    updateUser: ({ body }, caller) => renameUser(context, caller, body.name),
    changeEmail: ({ body }, caller) => changeEmail(context, caller, body),
    changePassword: ({ body }, caller) => changePassword(context, caller, body),
    signOut: async (_, caller) => {
      await signOut(context, caller);
      return { status: 'OK' };
    },
    signOutEverywhere: async (_, caller) => {
      await signOutEverywhere(context, caller);
      return { status: 'OK' };
    },
    listPersonalTokens: async (_, { person }) => ({ tokens: await listPersonalTokens(context, person.id) }),
    createPersonalToken: ({ body }, caller) =>
      createPersonalToken(context, caller.person.id, toAuditActor(caller), { ...body, createdBy: 'person' }),
    revokePersonalToken: ({ params }, caller) => revokePersonalToken(context, caller, params.tokenId),
    getDeviceLogin: ({ params }, caller) => getDeviceLogin(context, caller, params.userCode),
    decideDeviceLogin: ({ params, body }, caller) => decideDeviceLogin(context, caller, params.userCode, body.approve),
    decideAuthorization: ({ body }, caller) => decideAuthorization(context, caller, body),
    acceptInvitation: ({ body }, caller) => acceptInvitation(context, caller, body.token),
    createOrganization: ({ body }, caller) => createOrganization(context, toAuditActor(caller), body),
    listInvitations: async (_, caller) => ({ invitations: await listInvitations(context, caller) }),
    createInvitation: ({ body }, caller) => createInvitation(context, caller, body),
    revokeInvitation: ({ params }, caller) => revokeInvitation(context, caller, params.invitationId),
    createOperatorInvitation: ({ body }, operator) =>
      createOperatorInvitation(context, operator, { ...body, organization: body.organization ?? null }),
    createPasswordReset: ({ body }, operator) => createPasswordReset(context, operator, body.email),
  } satisfies Partial<ApiOperationHandlers>;
}
