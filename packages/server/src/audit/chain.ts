import { createHash } from 'node:crypto';

/** Who does something, and from where. Without a key it is the service itself. */
export type Actor = {
  readonly keyId: string | null;
  readonly keyName?: string;
  /** Of the other end of the connection. */
  readonly address?: string;
  readonly requestId?: string;
};

/** What one entry of the log says. Never a value, nor a fingerprint. */
export type AuditEvent = {
  readonly at: Date;
  readonly actor: Actor;
  /** As in `secrets.set`. */
  readonly action: string;
  /** What it was done to, by name. */
  readonly object: string | null;
  readonly region: string | null;
  readonly keys: readonly string[];
  readonly revisionBefore: number | null;
  readonly revisionAfter: number | null;
  /** `done`, `started`, `unchanged`, `dry-run`, or the reason of the refusal. */
  readonly result: string;
  /** Requests that the entry stands for, or entries that went; 1 when it is not said. */
  readonly count?: number;
};

/** What an event says that is about an organization as a whole, and about no object of it. */
export const ofWholeOrganization = {
  object: null,
  region: null,
  keys: [],
  revisionBefore: null,
  revisionAfter: null,
} as const;

/** Before the first event. */
export const chainStart = Buffer.alloc(32);

/** SHA-256 over the hash before, the place and the event, as one JSON list: an export can be checked by anybody. */
export function chainHash(previous: Buffer, organizationId: string, sequence: number, event: AuditEvent): Buffer {
  const content = JSON.stringify([
    previous.toString('hex'),
    organizationId,
    sequence,
    event.at.toISOString(),
    event.actor.keyId,
    event.actor.keyName ?? null,
    event.actor.address ?? null,
    event.actor.requestId ?? null,
    event.action,
    event.object,
    event.region,
    event.keys,
    event.revisionBefore,
    event.revisionAfter,
    event.result,
    event.count ?? 1,
  ]);
  return createHash('sha256').update(content).digest();
}
