import { randomUUID } from 'node:crypto';

/** Returns a name that is unused in the service, even when a test is retried. */
export function createUniqueName(name: string): string {
  return `${name}-${randomUUID().slice(0, 8)}`;
}
