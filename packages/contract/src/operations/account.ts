import { z } from 'zod';
import { anyone, people } from '../authorization.ts';
import { userAccountLimits } from '../limits.ts';
import { defineOperation } from '../operation.ts';
import { roles } from '../roles.ts';
import { IsoDateTime, requestWithBody, requestWithoutBody, Uuid } from './fields.ts';
import { ApiKeyLifetime, ApiKeyName } from './keys.ts';

export const Email = z.email().trim().toLowerCase().max(userAccountLimits.emailLength);
const Password = z
  .string()
  .min(userAccountLimits.passwordLength.minimum)
  .max(userAccountLimits.passwordLength.maximum)
  .describe('Neither a common password nor the e-mail address');
const PersonName = z
  .string()
  .trim()
  .min(1)
  .max(userAccountLimits.nameLength)
  .regex(/^\P{Cc}*$/u, 'contains control characters');
const LinkToken = z.string().max(200).describe('The token at the end of a one-time link');

const Membership = z.object({
  id: Uuid,
  name: z.string(),
  verboseName: z.string(),
  role: z.enum(roles),
  viewersCanStartSessions: z.boolean().describe('Whether viewers of the organization may start sessions'),
});

/** A person and the person's organizations. */
export const User = z
  .object({
    id: Uuid,
    email: z.string(),
    name: z.string(),
    hasPassword: z.boolean().describe('False for a person who signs in only with OpenID Connect'),
    organizations: z.array(Membership),
  })
  .meta({ id: 'User' });
export type User = z.infer<typeof User>;

const tokenFields = {
  id: Uuid,
  name: z.string(),
  start: z.string().describe('The first characters, enough to recognize it'),
  createdBy: z.enum(['person', 'device-login']),
  createdAt: IsoDateTime,
  expiresAt: IsoDateTime.nullable(),
  lastUsedAt: IsoDateTime.nullable().describe('To the minute'),
};
/** The metadata of a personal access token. It does not contain the token. */
export const PersonalToken = z.object(tokenFields).meta({ id: 'PersonalToken' });
export type PersonalToken = z.infer<typeof PersonalToken>;

const Done = z.object({ status: z.literal('OK') });

const authentication = { tag: 'authentication', key: 'none', grantees: anyone } as const;
const account = { tag: 'account', key: 'person' } as const;

export const getSignInMethods = defineOperation({
  ...requestWithoutBody,
  ...authentication,
  name: 'getSignInMethods',
  summary: 'List the ways to sign in',
  path: '/auth/methods',
  response: z.object({
    password: z.boolean(),
    openId: z.object({ name: z.string() }).nullable().describe('The configured OpenID Connect provider'),
  }),
  errors: [],
});

/**
 * The response sets the cookie of a new browser session. If the request has the cookie of an earlier session, that session ends.
 */
export const signIn = defineOperation({
  ...requestWithBody,
  ...authentication,
  name: 'signIn',
  summary: 'Sign in with e-mail address and password',
  audit: 'account.sign-in',
  path: '/auth/sign-in',
  body: z.object({ email: z.string().trim().toLowerCase(), password: z.string().max(1_000) }),
  response: User,
  errors: ['invalid-request', 'sign-in-failed', 'sign-in-needs-tls', 'cross-site-request', 'too-many-attempts'],
});

export const describeLink = defineOperation({
  ...requestWithBody,
  ...authentication,
  name: 'describeLink',
  summary: 'Show what a one-time link is for, without using it',
  path: '/auth/links',
  body: z.object({ token: LinkToken }),
  response: z.object({
    purpose: z.enum(['invitation', 'password-reset']),
    email: z.string().nullable(),
    organization: z.string().nullable().describe('For an invitation: the display name of its organization'),
    role: z.enum(roles).nullable(),
    expiresAt: IsoDateTime,
  }),
  errors: ['invalid-request', 'link-invalid', 'cross-site-request', 'too-many-attempts'],
});

/** Without a mail server, an e-mail address is an identifier and is not verified. */
export const signUp = defineOperation({
  ...requestWithBody,
  ...authentication,
  name: 'signUp',
  summary: 'Create an account with a one-time link, and sign in',
  audit: 'members.join',
  path: '/auth/sign-up',
  body: z.object({ token: LinkToken, email: Email, name: PersonName, password: Password }),
  status: 201,
  response: User,
  errors: [
    'invalid-request',
    'password-too-weak',
    'link-invalid',
    'email-taken',
    'sign-in-needs-tls',
    'cross-site-request',
    'too-many-attempts',
  ],
});

export const resetPassword = defineOperation({
  ...requestWithBody,
  ...authentication,
  name: 'resetPassword',
  summary: 'Set a new password with a one-time link, end all sessions, and sign in',
  audit: 'account.reset-password',
  path: '/auth/reset-password',
  body: z.object({ token: LinkToken, password: Password }),
  response: User,
  errors: [
    'invalid-request',
    'password-too-weak',
    'link-invalid',
    'sign-in-needs-tls',
    'cross-site-request',
    'too-many-attempts',
  ],
});

export const startOpenIdSignIn = defineOperation({
  ...requestWithBody,
  ...authentication,
  name: 'startOpenIdSignIn',
  summary: 'Get the address of the OpenID Connect provider at which a browser continues',
  path: '/auth/openid/start',
  body: z.object({}).nullish(),
  response: z.object({ url: z.string() }),
  errors: ['invalid-request', 'openid-unavailable', 'sign-in-needs-tls', 'cross-site-request', 'too-many-attempts'],
});

export const finishOpenIdSignIn = defineOperation({
  ...requestWithBody,
  ...authentication,
  name: 'finishOpenIdSignIn',
  summary: 'Sign in with the response of the OpenID Connect provider',
  audit: 'account.sign-in',
  path: '/auth/openid/finish',
  body: z.object({
    code: z.string().max(4_096),
    state: z.string().max(1_000),
    iss: z.string().max(1_000).optional(),
  }),
  response: User,
  errors: [
    'invalid-request',
    'openid-unavailable',
    'openid-failed',
    'sign-in-needs-tls',
    'cross-site-request',
    'too-many-attempts',
  ],
});

/** The device authorization request of RFC 8628, section 3.1. */
export const startDeviceLogin = defineOperation({
  ...requestWithBody,
  ...authentication,
  name: 'startDeviceLogin',
  summary: 'Start the login of a device that has no browser (RFC 8628)',
  path: '/auth/device/code',
  acceptsForm: true,
  body: z.object({
    client_id: z.string().min(1).max(100),
    device_name: z.string().trim().max(userAccountLimits.nameLength).optional().describe('Shown before the approval'),
  }),
  response: z.object({
    device_code: z.string(),
    user_code: z.string(),
    verification_uri: z.string(),
    verification_uri_complete: z.string(),
    expires_in: z.number().int().describe('Seconds'),
    interval: z.number().int().describe('Seconds between polls'),
  }),
  errors: ['invalid-request', 'too-many-attempts'],
});

/**
 * The device access token request of RFC 8628, section 3.4. In its failures, the field `error` contains the code that the RFC
 * defines.
 */
export const pollDeviceLogin = defineOperation({
  ...requestWithBody,
  ...authentication,
  name: 'pollDeviceLogin',
  summary: 'Get the personal access token of a device login once it is approved (RFC 8628)',
  audit: 'account.sign-in',
  path: '/auth/device/token',
  acceptsForm: true,
  body: z.object({
    grant_type: z.literal('urn:ietf:params:oauth:grant-type:device_code'),
    device_code: z.string().max(200),
    client_id: z.string().min(1).max(100),
  }),
  response: z.object({
    access_token: z.string().describe('A personal access token'),
    token_type: z.literal('Bearer'),
    expires_in: z.number().int().describe('Seconds'),
  }),
  errors: [
    'invalid-request',
    'authorization-pending',
    'slow-down',
    'device-code-expired',
    'device-login-denied',
    'device-code-invalid',
  ],
});

/** The client id of Pipecat Cloud's CLI, the only client of the OAuth 2.0 login. It is public and has no secret. */
export const pipecatCliClientId = 'pipecat-cli';
/**
 * The address on which Pipecat Cloud's CLI waits for the code of a login. The CLI uses the first free port from 8400 to 8404 (RFC
 * 8252, section 7.3).
 */
const RedirectUri = z
  .string()
  .regex(/^http:\/\/127\.0\.0\.1:840[0-4]\/oauth_callback$/, 'not an address of this client');

/**
 * The authorization request of RFC 6749, section 4.1.1, with PKCE (RFC 7636). A page of the dashboard sends it, with the query
 * parameters of the page's URL.
 */
export const decideAuthorization = defineOperation({
  ...requestWithBody,
  ...account,
  grantees: ['session'],
  name: 'decideAuthorization',
  summary: "Approve or deny the OAuth 2.0 login of Pipecat Cloud's CLI",
  audit: 'account.decide-login',
  path: '/user/authorizations',
  body: z.object({
    response_type: z.literal('code'),
    client_id: z.literal(pipecatCliClientId),
    redirect_uri: RedirectUri,
    code_challenge: z.string().regex(/^[\w-]{43}$/, 'not an S256 challenge'),
    code_challenge_method: z.literal('S256'),
    state: z.string().max(1_000).optional(),
    approve: z.boolean(),
  }),
  response: z.object({ redirectUrl: z.string().describe('Where the browser takes the code, or the denial') }),
  errors: ['invalid-request', 'cross-site-request'],
});

/**
 * The access token request of RFC 6749, section 4.1.3. If it fails with `authorization-code-invalid`, the field `error`
 * contains the error code of the RFC.
 */
export const exchangeAuthorizationCode = defineOperation({
  ...requestWithBody,
  ...authentication,
  name: 'exchangeAuthorizationCode',
  summary: 'Exchange the code of an approved OAuth 2.0 login for a personal access token',
  audit: 'account.sign-in',
  path: '/auth/oauth/token',
  acceptsForm: true,
  body: z.object({
    grant_type: z.literal('authorization_code'),
    code: z.string().max(200),
    redirect_uri: z.string().max(200),
    client_id: z.literal(pipecatCliClientId),
    code_verifier: z.string().max(200),
  }),
  response: z.object({
    access_token: z.string().describe('A personal access token'),
    token_type: z.literal('Bearer'),
    expires_in: z.number().int().describe('Seconds'),
    refresh_token: z.string().describe('The same token: the client revokes a login only if it has this field'),
  }),
  errors: ['invalid-request', 'authorization-code-invalid', 'personal-tokens-too-many', 'cross-site-request'],
});

export const getUser = defineOperation({
  ...requestWithoutBody,
  ...account,
  grantees: people,
  name: 'getUser',
  summary: 'Show the signed-in person and their organizations',
  path: '/user',
  response: User,
  errors: [],
});

export const updateUser = defineOperation({
  ...requestWithBody,
  ...account,
  grantees: people,
  name: 'updateUser',
  summary: 'Change the name of the signed-in person',
  audit: 'account.rename',
  method: 'PATCH',
  path: '/user',
  body: z.object({ name: PersonName }),
  response: User,
  errors: ['invalid-request', 'cross-site-request'],
});

export const changeEmail = defineOperation({
  ...requestWithBody,
  ...account,
  grantees: ['session'],
  name: 'changeEmail',
  summary: 'Change the e-mail address of the signed-in person',
  audit: 'account.change-email',
  path: '/user/email',
  body: z.object({ email: Email, password: z.string().max(1_000) }),
  response: User,
  errors: ['invalid-request', 'sign-in-failed', 'email-taken', 'cross-site-request', 'too-many-attempts'],
});

export const changePassword = defineOperation({
  ...requestWithBody,
  ...account,
  grantees: ['session'],
  name: 'changePassword',
  summary: 'Change the password of the signed-in person, and end all other sessions',
  audit: 'account.change-password',
  path: '/user/password',
  body: z.object({ currentPassword: z.string().max(1_000), newPassword: Password }),
  response: User,
  errors: ['invalid-request', 'sign-in-failed', 'password-too-weak', 'cross-site-request', 'too-many-attempts'],
});

export const signOut = defineOperation({
  ...requestWithBody,
  ...account,
  grantees: people,
  name: 'signOut',
  summary: 'End the session, or revoke the personal access token, that authenticates this request',
  audit: 'account.sign-out',
  path: '/user/sign-out',
  body: z.object({}).nullish(),
  response: Done,
  errors: ['invalid-request', 'cross-site-request'],
});

export const signOutEverywhere = defineOperation({
  ...requestWithBody,
  ...account,
  grantees: ['session'],
  name: 'signOutEverywhere',
  summary: 'End all sessions and device logins of the signed-in person',
  audit: 'account.sign-out-everywhere',
  path: '/user/sign-out-everywhere',
  body: z.object({}).nullish(),
  response: Done,
  errors: ['invalid-request', 'cross-site-request'],
});

export const listPersonalTokens = defineOperation({
  ...requestWithoutBody,
  ...account,
  grantees: people,
  name: 'listPersonalTokens',
  summary: 'List the personal access tokens of the signed-in person',
  path: '/user/tokens',
  response: z.object({ tokens: z.array(PersonalToken) }),
  errors: [],
});

export const createPersonalToken = defineOperation({
  ...requestWithBody,
  ...account,
  grantees: ['session'],
  name: 'createPersonalToken',
  summary: 'Create a personal access token. Only this response contains it',
  audit: 'account.create-token',
  path: '/user/tokens',
  body: z.object({ name: ApiKeyName, expiresInSeconds: ApiKeyLifetime }),
  status: 201,
  response: z.object({ ...tokenFields, token: z.string() }),
  errors: ['invalid-request', 'personal-tokens-too-many', 'cross-site-request'],
});

export const revokePersonalToken = defineOperation({
  ...requestWithoutBody,
  ...account,
  grantees: people,
  name: 'revokePersonalToken',
  summary: 'Revoke a personal access token',
  audit: 'account.revoke-token',
  method: 'DELETE',
  path: '/user/tokens/{tokenId}',
  params: z.object({ tokenId: z.string() }),
  response: PersonalToken,
  errors: ['personal-token-not-found', 'cross-site-request'],
});

const DeviceLogin = z.object({
  userCode: z.string(),
  clientId: z.string(),
  deviceName: z.string().nullable().describe('As the device reports it'),
  address: z.string().nullable().describe('IP address of the device'),
  state: z.enum(['pending', 'approved', 'denied']),
  expiresAt: IsoDateTime,
});
const userCode = z.object({ userCode: z.string().describe('The code that the device shows') });

export const getDeviceLogin = defineOperation({
  ...requestWithoutBody,
  ...account,
  grantees: ['session'],
  name: 'getDeviceLogin',
  summary: 'Show a device login before it is approved',
  path: '/user/device-logins/{userCode}',
  params: userCode,
  response: DeviceLogin,
  errors: ['device-login-not-found', 'too-many-attempts'],
});

export const decideDeviceLogin = defineOperation({
  ...requestWithBody,
  ...account,
  grantees: ['session'],
  name: 'decideDeviceLogin',
  summary: 'Approve or deny a device login',
  audit: 'account.decide-login',
  path: '/user/device-logins/{userCode}',
  params: userCode,
  body: z.object({ approve: z.boolean() }),
  response: DeviceLogin,
  errors: ['invalid-request', 'device-login-not-found', 'cross-site-request', 'too-many-attempts'],
});

export const acceptInvitation = defineOperation({
  ...requestWithBody,
  ...account,
  grantees: ['session'],
  name: 'acceptInvitation',
  summary: 'Join the organization of an invitation as the signed-in person',
  audit: 'members.join',
  path: '/user/invitations',
  body: z.object({ token: LinkToken }),
  response: User,
  errors: ['invalid-request', 'link-invalid', 'cross-site-request', 'too-many-attempts'],
});
