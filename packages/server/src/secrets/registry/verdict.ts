import type { ImagePullSecretCheckResult } from '@bothost/contract';
import { RefusedAddressError } from '../../http-client/ssrf-safe-agent.ts';

/**
 * The result of checking registry credentials, and a message for their owner. The message contains no text from the registry.
 */
export type CredentialVerdict = {
  readonly result: ImagePullSecretCheckResult;
  readonly message: string;
};

export const createVerifiedCredentialVerdict = (message: string): CredentialVerdict => ({
  result: 'verified',
  message,
});
export const createRejectedCredentialVerdict = (message: string): CredentialVerdict => ({
  result: 'rejected',
  message,
});
export const createUnreachableRegistryVerdict = (message: string): CredentialVerdict => ({
  result: 'unreachable',
  message,
});
export const createSkippedCheckVerdict = (message: string): CredentialVerdict => ({ result: 'skipped', message });

/** Verdict for a status that says nothing about the credentials. `who` is the registry or its token server. */
export function createVerdictForHttpStatus(
  who: string,
  response: { readonly status: number; readonly retryAfter: string | undefined },
): CredentialVerdict {
  const { status } = response;
  if (status === 429)
    return createUnreachableRegistryVerdict(
      `${who} has received too many requests. Try again ${when(response.retryAfter)}.`,
    );
  if (status >= 300 && status < 400) {
    return createUnreachableRegistryVerdict(
      `${who} redirects to another address (${status}), which does not get the credentials. Use the host of that address.`,
    );
  }
  if (status === 404)
    return createUnreachableRegistryVerdict(`${who} was not found: it answers 404. Check host and port.`);
  if (status >= 500) return createUnreachableRegistryVerdict(`${who} answers ${status}. Try again later.`);
  return createUnreachableRegistryVerdict(`${who} answers ${status}, which is not valid for a registry.`);
}

/** Formats `Retry-After` (RFC 9110, section 10.2.3), which is a number of seconds or a date. */
function when(retryAfter: string | undefined): string {
  if (retryAfter !== undefined && /^\d{1,6}$/.test(retryAfter)) return `in ${Number(retryAfter)} s`;
  const at = Date.parse(retryAfter ?? '');
  return Number.isNaN(at) ? 'later' : `after ${new Date(at).toISOString()}`;
}

const messagesByErrorCode: readonly (readonly [code: RegExp, message: string])[] = [
  [/^(?:ENOTFOUND|EAI_[A-Z]+)$/, 'The host name does not exist. Check its spelling.'],
  [/^ECONNREFUSED$/, 'No server is listening at this host and port.'],
  [/^UND_ERR_(?:RES_EXCEEDED_MAX_SIZE|HEADERS_OVERFLOW)$/, 'The response is too large for a registry.'],
];

export function createVerdictForRequestError(error: unknown, seconds: number): CredentialVerdict {
  if (error instanceof RefusedAddressError) {
    return createSkippedCheckVerdict(
      `The registry was not asked: ${error.message} has an address that the operator has to allow with BOTHOST_REGISTRIES.`,
    );
  }
  const code = codeOf(error);
  if ((error instanceof Error && error.name === 'TimeoutError') || /TIMEOUT$|TIMEDOUT$/.test(code)) {
    return createUnreachableRegistryVerdict(`The registry did not answer within ${seconds} s.`);
  }
  const [, message] = messagesByErrorCode.find(([pattern]) => pattern.test(code)) ?? [];
  if (message !== undefined) return createUnreachableRegistryVerdict(message);
  if (/CERT|TLS|SSL|SIGNATURE|ISSUER/.test(code)) {
    return createUnreachableRegistryVerdict(
      `The service does not trust the certificate of the registry, or the registry does not use TLS (${code}).`,
    );
  }
  return createUnreachableRegistryVerdict(
    code === '' ? 'The connection was lost.' : `The connection was lost (${code}).`,
  );
}

/** The code of an error, else of its first aggregated error or its cause, else an empty string. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0 && !('code' in error)) return codeOf(error.errors[0]);
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code !== '' && /^[A-Z0-9_]{1,60}$/.test(code)) return code;
  return error instanceof Error && error.cause !== undefined ? codeOf(error.cause) : '';
}
