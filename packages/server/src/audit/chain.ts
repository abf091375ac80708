import { createHash } from 'node:crypto';

/** Who acts, and from where. `keyId` null: the service itself. */
export type Actor = {
  readonly keyId: string | null;
  readonly keyName?: string;
  /** Remote address of the connection. */
  readonly address?: string;
  readonly requestId?: string;
};

/** Content of one entry of the log. It never contains values or fingerprints. */
export type AuditEvent = {
  readonly at: Date;
  readonly actor: Actor;
  /** For example `secrets.set`. */
  readonly action: string;
  /** Name of the affected object. */
  readonly object: string | null;
  readonly region: string | null;
  readonly keys: readonly string[];
  readonly revisionBefore: number | null;
  readonly revisionAfter: number | null;
  /** `done`, `started`, `unchanged`, `dry-run`, or the error reason of a refused request. */
  readonly result: string;
  /** Requests that the entry stands for; default 1. */
  readonly count?: number;
};

/** Fields of an event that concerns the whole organization and no object in it. */
export const ofWholeOrganization = {
  object: null,
  region: null,
  keys: [],
  revisionBefore: null,
  revisionAfter: null,
} as const;

/** Previous hash of an organization's first event. */
export const chainStart = Buffer.alloc(32);

/** SHA-256 of one JSON list: previous hash, organization, sequence and event. docs/operations.md checks an export with it. */
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
