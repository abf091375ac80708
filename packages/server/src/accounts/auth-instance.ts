import { accountCredentialLifetimeSeconds, sessionCookieName } from '@bothost/contract';
import { type BetterAuthOptions, betterAuth } from 'better-auth';
import { APIError } from 'better-auth/api';
import { deviceAuthorization } from 'better-auth/plugins/device-authorization';
import { type GenericOAuthConfig, genericOAuth } from 'better-auth/plugins/generic-oauth';
import { newId } from '../store/uuid.ts';
import { type AuthOptions, clientAddressHeader, type OpenIdProvider, openIdProviderId } from './auth-options.ts';

/** Path of the page to which the OpenID Connect provider redirects browsers after the sign-in. */
const openIdReturnPath = '/sign-in/openid';

/** Configures better-auth to use the service's tables. With `isSecure`, cookies have the attribute `Secure`. */
export function createBetterAuthInstance(options: AuthOptions, isSecure: boolean) {
  return betterAuth(authOptions(options, isSecure));
}
export type BetterAuthInstance = ReturnType<typeof createBetterAuthInstance>;

function authOptions({ db, logger, secret, openId, serviceUrl }: AuthOptions, isSecure: boolean) {
  const timestamps = { createdAt: 'created_at', updatedAt: 'updated_at' } as const;
  return {
    appName: 'bothost',
    baseURL: serviceUrl(),
    secret,
    database: { db, type: 'postgres', transaction: true },
    telemetry: { enabled: false },
    logger: {
      level: 'error',
      // Log only the message, because better-auth's other arguments may contain e-mail addresses and tokens.
      log: (_, message) => logger.warn({ message }, 'authentication library reported an error'),
    },
    user: { modelName: 'users', fields: { emailVerified: 'email_verified', ...timestamps } },
    session: {
      modelName: 'user_sessions',
      fields: {
        userId: 'user_id',
        expiresAt: 'expires_at',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
        ...timestamps,
      },
      expiresIn: accountCredentialLifetimeSeconds.session,
    },
    account: {
      modelName: 'user_credentials',
      fields: {
        userId: 'user_id',
        providerId: 'provider_id',
        accountId: 'account_id',
        accessToken: 'access_token',
        refreshToken: 'refresh_token',
        idToken: 'id_token',
        accessTokenExpiresAt: 'access_token_expires_at',
        refreshTokenExpiresAt: 'refresh_token_expires_at',
        ...timestamps,
      },
      encryptOAuthTokens: true,
      // Do not link a sign-in with OpenID Connect to a password account with the same e-mail address. The address of a password
      // account is not verified, so somebody else may have created the account.
      accountLinking: { enabled: false },
    },
    verification: { modelName: 'auth_verifications', fields: { expiresAt: 'expires_at', ...timestamps } },
    emailAndPassword: { enabled: true, disableSignUp: true },
    // Disable better-auth's rate limits: they apply only to its HTTP handler, which this service never mounts.
    rateLimit: { enabled: false },
    advanced: {
      cookies: { session_token: { name: sessionCookieName } },
      cookiePrefix: 'bothost',
      useSecureCookies: isSecure,
      ipAddress: { ipAddressHeaders: [clientAddressHeader] },
      database: { generateId: newId },
    },
    plugins: [
      deviceLoginPlugin(),
      genericOAuth({ config: openId === null ? [] : [openIdConfig(openId, serviceUrl())] }),
    ],
  } as const satisfies BetterAuthOptions;
}

function deviceLoginPlugin() {
  return deviceAuthorization({
    expiresIn: `${accountCredentialLifetimeSeconds.deviceLogin}s`,
    interval: '5s',
    schema: {
      deviceCode: {
        modelName: 'device_logins',
        fields: {
          deviceCode: 'device_code',
          userCode: 'user_code',
          userId: 'user_id',
          expiresAt: 'expires_at',
          lastPolledAt: 'last_polled_at',
          pollingInterval: 'polling_interval',
          clientId: 'client_id',
        },
      },
    },
  });
}

function openIdConfig(openId: OpenIdProvider, serviceUrl: string): GenericOAuthConfig {
  return {
    providerId: openIdProviderId,
    discoveryUrl: `${openId.issuer}/.well-known/openid-configuration`,
    redirectURI: serviceUrl + openIdReturnPath,
    clientId: openId.clientId,
    clientSecret: openId.clientSecret,
    scopes: ['openid', 'email', 'profile'],
    pkce: true,
    requireIdTokenVerification: true,
    mapProfileToUser: (profile) => {
      requireAllowedEmail(openId, profile);
      return {};
    },
  };
}

function requireAllowedEmail({ emailDomains }: OpenIdProvider, profile: Readonly<Record<string, unknown>>): void {
  if (emailDomains.length === 0) return;
  const domain = String(profile['email']).split('@').at(-1)?.toLowerCase() ?? '';
  const isVerified = String(profile['email_verified']) === 'true';
  if (!isVerified || !emailDomains.includes(domain)) throw new APIError('FORBIDDEN', { code: 'EMAIL_NOT_ALLOWED' });
}
