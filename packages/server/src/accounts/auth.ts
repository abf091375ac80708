import { createApiError } from '@bothost/contract';
import type { AccountRequest } from './account-request.ts';
import type { BetterAuthInstance } from './auth-instance.ts';
import { type AuthOptions, clientAddressHeader } from './auth-options.ts';

/**
 * Gives access to the library better-auth. Its functions are called directly. Its HTTP handler is never mounted, so none of its
 * routes is reachable. The library is large, so it is loaded at the first use.
 */
export function createBetterAuth(options: AuthOptions) {
  const instances = new Map<boolean, Promise<BetterAuthInstance>>();
  const create = async (isSecure: boolean) => {
    const { createBetterAuthInstance } = await import('./auth-instance.ts');
    return createBetterAuthInstance(options, isSecure);
  };
  return {
    /** Returns the better-auth instance for a connection: over HTTPS, cookies have the attribute `Secure`. */
    of: ({ serviceUrl }: Pick<AccountRequest, 'serviceUrl'>): Promise<BetterAuthInstance> => {
      const isSecure = serviceUrl.startsWith('https:');
      const instance = instances.get(isSecure) ?? create(isSecure);
      instances.set(isSecure, instance);
      return instance;
    },
  };
}
export type BetterAuth = ReturnType<typeof createBetterAuth>;

/** Request headers for better-auth: the cookies, and the user agent and IP address, which it stores with a session. */
export function createBetterAuthHeaders({ cookie, userAgent, address }: AccountRequest): Headers {
  return new Headers({
    ...(cookie === undefined ? {} : { cookie }),
    ...(userAgent === undefined ? {} : { 'user-agent': userAgent }),
    [clientAddressHeader]: address,
  });
}

/**
 * Rejects a request over plain HTTP from another machine, because somebody could intercept the session cookie.
 *
 * @throws failure `sign-in-needs-tls`
 */
export function requireHttpsOrLoopback({ isPrivateConnection }: AccountRequest): void {
  if (!isPrivateConnection) throw createApiError('sign-in-needs-tls');
}

/** The code with which better-auth rejected a request, such as `authorization_pending`. Null for any other error. */
export function getBetterAuthErrorCode(error: unknown): string | null {
  // Check fields instead of `instanceof`, because better-auth and its error class are loaded only when needed.
  if (!(error instanceof Error) || !('statusCode' in error) || !('body' in error)) return null;
  if (Number(error.statusCode) >= 500) return null;
  const body = error.body as Readonly<Record<string, unknown>> | undefined;
  return String(body?.['error'] ?? body?.['code'] ?? 'unknown');
}
