import {
  createApiError,
  secretWriteDryRunRateLimit,
  secretWriteQueueLimits,
  secretWriteRateLimit,
} from '@bothost/contract';
import { createKeyedQueue } from '@bothost/runtime/keyed-queue';
import { createRateLimit } from '../concurrency/rate-limit.ts';

/** `bytes` is the memory that the write holds while it waits. */
type QueuedWrite = { readonly organizationId: string; readonly dryRun: boolean; readonly bytes: number };

/**
 * Runs the secret writes of each organization one at a time. Rejects with `too-many-secret-writes` or `too-many-dry-runs` if the
 * organization writes too often, or has too many or too large writes waiting.
 */
export type SecretWriteQueue = <T>(write: QueuedWrite, work: () => Promise<T>) => Promise<T>;

export function createSecretWriteQueue(now: () => Date): SecretWriteQueue {
  const writes = createRateLimit(secretWriteRateLimit, now);
  // Dry runs have a lower rate limit, because they allow guessing secret values.
  const dryRuns = createRateLimit(secretWriteDryRunRateLimit, now);
  // The lock of an organization's audit log lets only one write proceed. Others wait here instead of holding a connection to the
  // database.
  const enqueue = createKeyedQueue({
    tasks: secretWriteQueueLimits.requests,
    bytes: secretWriteQueueLimits.bytes,
    error: () => createApiError('too-many-secret-writes'),
  });
  return async ({ organizationId, dryRun, bytes }, work) => {
    if (dryRun && !dryRuns.take(organizationId)) throw createApiError('too-many-dry-runs');
    if (!dryRun && !writes.take(organizationId)) throw createApiError('too-many-secret-writes');
    return enqueue(organizationId, work, { bytes });
  };
}
