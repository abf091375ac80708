import { randomUUID } from 'node:crypto';

/** A name that nothing in the service has, even when a test is retried. */
export function freshName(name: string): string {
  return `${name}-${randomUUID().slice(0, 8)}`;
}
