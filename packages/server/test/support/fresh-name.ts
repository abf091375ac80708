import { randomUUID } from 'node:crypto';

/** A name that nothing in a service has yet, whatever an earlier try of the same test left there. */
export function freshName(name: string): string {
  return `${name}-${randomUUID().slice(0, 8)}`;
}
