import type { Logger } from 'pino';
import type { Database } from '../store/tables.ts';

export type OpenIdProvider = {
  readonly name: string;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** E-mail addresses must belong to one of these domains to sign in. If empty, all domains are allowed. */
  readonly emailDomains: readonly string[];
};

export type AuthOptions = {
  readonly db: Database;
  readonly logger: Pick<Logger, 'warn'>;
  /** The key that signs cookies. */
  readonly secret: string;
  readonly openId: OpenIdProvider | null;
  /** Returns the URL of the service. The OpenID Connect provider redirects browsers to a page under this URL. */
  readonly serviceUrl: () => string;
};

export const openIdProviderId = 'openid';
/** The header in which `createBetterAuthHeaders` passes the client's IP address to better-auth. */
export const clientAddressHeader = 'x-bothost-client-address';
