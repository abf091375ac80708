import type { PullSecretResult } from '@bothost/contract';
import { RefusedAddress } from './guarded-agent.ts';

/** How a check ended, and a sentence for whoever set the credentials. Nothing that a registry wrote is in it. */
export type Verdict = {
  readonly result: PullSecretResult;
  readonly message: string;
};

export const verified = (message: string): Verdict => ({ result: 'verified', message });
export const rejected = (message: string): Verdict => ({ result: 'rejected', message });
export const unreachable = (message: string): Verdict => ({ result: 'unreachable', message });
export const skipped = (message: string): Verdict => ({ result: 'skipped', message });

/** What a status that settles nothing means. `who` is the registry, or where it has its tokens from. */
export function unexpected(
  who: string,
  answer: { readonly status: number; readonly retryAfter: string | undefined },
): Verdict {
  const { status } = answer;
  if (status === 429)
    return unreachable(`${who} has received too many requests. Try again ${when(answer.retryAfter)}.`);
  if (status >= 300 && status < 400) {
    return unreachable(`${who} sends elsewhere (${status}), where no credentials go. Name the host that it leads to.`);
  }
  if (status === 404) return unreachable(`${who} was not found: it answers 404. Check host and port.`);
  if (status >= 500) return unreachable(`${who} answers ${status}. Try again later.`);
  return unreachable(`${who} answers ${status}, which a registry never does.`);
}

/** RFC 9110 10.2.3: seconds, or a date. */
function when(retryAfter: string | undefined): string {
  if (retryAfter !== undefined && /^\d{1,6}$/.test(retryAfter)) return `in ${Number(retryAfter)} s`;
  const at = Date.parse(retryAfter ?? '');
  return Number.isNaN(at) ? 'later' : `after ${new Date(at).toISOString()}`;
}

const tooMuch: ReadonlySet<string> = new Set(['UND_ERR_RES_EXCEEDED_MAX_SIZE', 'UND_ERR_HEADERS_OVERFLOW']);
const unresolved: ReadonlySet<string> = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_NODATA', 'EAI_NONAME', 'EAI_FAIL']);
const timeouts: ReadonlySet<string> = new Set([
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
]);

/** What a request that got no answer means. */
export function unanswered(error: unknown, seconds: number): Verdict {
  if (error instanceof RefusedAddress) {
    return skipped(
      `The registry was not asked: ${error.message} is on an address that only the operator can allow, with BOTHOST_REGISTRIES.`,
    );
  }
  const code = codeOf(error);
  const isLate = error instanceof Error && (error.name === 'TimeoutError' || error.name === 'AbortError');
  if (isLate || timeouts.has(code)) return unreachable(`The registry did not answer within ${seconds} s.`);
  if (unresolved.has(code)) return unreachable('There is no host of this name. Check its spelling.');
  if (code === 'ECONNREFUSED') return unreachable('Nothing answers at this host and port.');
  if (tooMuch.has(code)) return unreachable('Its answer is larger than that of a registry.');
  if (/CERT|TLS|SSL|SIGNATURE|ISSUER/.test(code)) {
    return unreachable(`The service does not trust its certificate, or it speaks no TLS (${code}).`);
  }
  return unreachable(code === '' ? 'The connection broke.' : `The connection broke (${code}).`);
}

/** Of an error, or of the first of those that it was made of. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0 && !('code' in error)) return codeOf(error.errors[0]);
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code !== '' && /^[A-Z0-9_]{1,60}$/.test(code)) return code;
  return error instanceof Error && error.cause !== undefined ? codeOf(error.cause) : '';
}
