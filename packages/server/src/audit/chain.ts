import { createHash } from 'node:crypto';

/** What one event of the log says. Never a value, nor a fingerprint. */
export type AuditEvent = {
  readonly at: Date;
  readonly actorKeyId: string | null;
  /** As in `secrets.set`. */
  readonly action: string;
  /** What it was done to, by name. */
  readonly object: string;
  readonly region: string | null;
  readonly keys: readonly string[];
  readonly revisionBefore: number | null;
  readonly revisionAfter: number | null;
  /** `done`, `dry-run`, or the reason of the failure. */
  readonly result: string;
};

/** Before the first event. */
export const chainStart = Buffer.alloc(32);

/** SHA-256 over the hash before, the place and the event, as one JSON list: an export can be checked by anybody. */
export function chainHash(previous: Buffer, organizationId: string, sequence: number, event: AuditEvent): Buffer {
  const content = JSON.stringify([
    previous.toString('hex'),
    organizationId,
    sequence,
    event.at.toISOString(),
    event.actorKeyId,
    event.action,
    event.object,
    event.region,
    event.keys,
    event.revisionBefore,
    event.revisionAfter,
    event.result,
  ]);
  return createHash('sha256').update(content).digest();
}
