import { createHash } from 'node:crypto';

/** The caller and its address. `keyId` is null if the service itself acts. */
export type Actor = {
  readonly keyId: string | null;
  readonly keyName?: string;
  readonly address?: string;
  readonly requestId?: string;
};

/** Content of one audit log entry. It never contains secret values or fingerprints. */
export type AuditEvent = {
  readonly at: Date;
  readonly actor: Actor;
  /** For example `secrets.set`. */
  readonly action: string;
  readonly object: string | null;
  readonly region: string | null;
  readonly keys: readonly string[];
  readonly revisionBefore: number | null;
  readonly revisionAfter: number | null;
  /** `done`, `started`, `unchanged`, `dry-run`, or the error reason of a refused request. */
  readonly result: string;
  /** Number of requests that the entry represents, 1 if missing. */
  readonly count?: number;
};

/** Fields of an event that concerns the whole organization instead of one object. */
export const ofWholeOrganization = {
  object: null,
  region: null,
  keys: [],
  revisionBefore: null,
  revisionAfter: null,
} as const;

export const initialPreviousHash = Buffer.alloc(32);

/**
 * The hash of an event: SHA-256 of a JSON list with the previous hash, organization, sequence and event. docs/operations.md has a
 * command that checks exported logs with this hash.
 */
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
