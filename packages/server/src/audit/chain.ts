import { createHash } from 'node:crypto';
import type { AuditAction } from '@bothost/contract';

/** A person, with their e-mail address at the time of the action. */
export type PersonIdentity = { readonly id: string; readonly email: string };

/** The caller and its IP address. `keyId` is null if the caller is a person in a browser, the operator, or the service itself. */
export type Actor = {
  /** Id of the API key or personal access token that authenticated the request. */
  readonly keyId: string | null;
  readonly keyName?: string;
  readonly person?: PersonIdentity;
  readonly address?: string;
  readonly requestId?: string;
};

/** Content of one audit log entry. It never contains secret values or fingerprints. */
export type AuditEvent = {
  readonly at: Date;
  readonly actor: Actor;
  /** The action, for example `secrets.set`. */
  readonly action: string;
  readonly object: string | null;
  readonly region: string | null;
  readonly keys: readonly string[];
  readonly revisionBefore: number | null;
  readonly revisionAfter: number | null;
  /** The result: `done`, `started`, `unchanged`, `dry-run`, or the error reason of a refused request. */
  readonly result: string;
  /** Number of requests that the entry represents; undefined means 1. */
  readonly count?: number;
};

/** An event that is not stored yet. A stored event can have an action of an earlier version. */
export type NewAuditEvent = AuditEvent & { readonly action: AuditAction };

/** Fields of an audit event that concerns the whole organization instead of one object. */
export const organizationEventFields = {
  object: null,
  region: null,
  keys: [],
  revisionBefore: null,
  revisionAfter: null,
} as const;

export const initialPreviousHash = Buffer.alloc(32);

/**
 * Returns the hash of an event: SHA-256 of a JSON list with the previous hash and the fields of the event. The list contains the
 * person only if there is one, so that older events without a person keep their hashes. docs/operations/vault-and-audit.md
 * shows how to verify an exported log with these hashes.
 */
export function computeChainHash(
  previous: Buffer,
  organizationId: string,
  sequence: number,
  event: AuditEvent,
): Buffer {
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
    ...(event.actor.person === undefined ? [] : [event.actor.person.id, event.actor.person.email]),
  ]);
  return createHash('sha256').update(content).digest();
}
