import type { Logger } from 'pino';
import type { Database } from '../store/tables.ts';

/** An OpenID Connect provider whose accounts may sign in. */
export type OpenIdProvider = {
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Domains of e-mail addresses that may sign in. Empty: all. */
  readonly emailDomains: readonly string[];
};

export type AuthOptions = {
  readonly db: Database;
  readonly logger: Pick<Logger, 'warn'>;
  /** The key that signs cookies. */
  readonly secret: string;
  readonly openId: OpenIdProvider | null;
  /** The URL of the service, to which the OpenID Connect provider sends browsers back. */
  readonly serviceUrl: () => string;
};

/** The id of the OpenID Connect provider in `user_credentials`. */
export const openIdProvider = 'openid';
/** The header in which `headersForBetterAuth` passes the client's IP address to better-auth. */
export const clientAddressHeader = 'x-bothost-client-address';
