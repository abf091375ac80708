import { createApiError, type SecretWriteResult } from '@bothost/contract';
import { appendAudit } from '../audit/append.ts';
import type { Actor } from '../audit/chain.ts';
import type { StoreContext } from '../store/store-context.ts';
import type { SecretSetKeyChange } from './change.ts';
import { findSecretDelivery, retrySecretDelivery } from './delivery-rows.ts';
import { type CurrentKeysOfOrganization, readCurrentKeysOfOrganization } from './encrypted-values.ts';
import { type RevisionDraft, storeRevision } from './new-revision.ts';
import type { SecretSetRow } from './rows.ts';
import { DamagedDataError } from './vault/damaged-data-error.ts';
import { computeSecretValueFingerprint, formatFingerprint } from './vault/fingerprint.ts';
import type { Keyring } from './vault/keyring.ts';

export type SecretWriteContext = Pick<StoreContext, 'db' | 'now' | 'newId'> & {
  readonly keyring: Keyring;
};
export type ActorInOrganization = Actor & { readonly organizationId: string };

export type PlannedWrite = {
  /** A set with revision 0 is new and not stored yet. */
  readonly set: SecretSetRow;
  readonly draft: RevisionDraft | null;
  readonly changes: readonly SecretSetKeyChange[];
  /** Values in the request by key. The response shows their lengths and fingerprints. */
  readonly values: ReadonlyMap<string, Buffer>;
  readonly auditAction: 'secrets.set' | 'secrets.unset' | 'secrets.rollback';
  /** Whether to retry a failed delivery even if nothing changes, because its cause may be fixed by now. */
  readonly retriesDelivery: boolean;
  readonly details: Pick<SecretWriteResult, 'host' | 'expiresAt'>;
};

/**
 * Runs `plan` and carries out the planned write in one transaction with its audit entry. A dry run stores only the
 * audit entry.
 *
 * @throws failure `secret-set-damaged` if the keys of the organization are lost
 */
export async function executeSecretWrite(
  context: SecretWriteContext,
  actor: ActorInOrganization,
  dryRun: boolean,
  plan: (inside: SecretWriteContext) => Promise<PlannedWrite>,
): Promise<SecretWriteResult> {
  await ensureKeys(context, actor.organizationId);
  return context.db.transaction().execute(async (db) => {
    const inside = { ...context, db };
    const planned = await plan(inside);
    const { set, draft } = planned;
    const keys = await readCurrentKeysOfOrganization(inside, set.organization_id);
    const isStored = draft !== null && !dryRun;
    const revision = isStored ? await storeRevision(inside, set, actor.keyId, keys, draft) : set.revision;
    await appendAudit(db, actor.organizationId, {
      at: context.now(),
      actor,
      action: planned.auditAction,
      object: set.name,
      region: set.region,
      keys: planned.changes.filter(({ change }) => change !== 'unchanged').map(({ key }) => key),
      revisionBefore: set.revision,
      revisionAfter: revision,
      result: dryRun ? 'dry-run' : draft === null ? 'unchanged' : 'done',
    });
    const previousRevision = set.revision === 0 ? null : set.revision;
    return {
      status: 'OK',
      name: set.name,
      type: set.kind,
      region: set.region,
      readiness: dryRun && draft !== null ? null : await readinessOf(inside, planned, revision, dryRun),
      revision: dryRun ? previousRevision : revision,
      previousRevision,
      change: draft === null ? 'none' : set.revision === 0 ? 'created' : 'updated',
      dryRun,
      ...planned.details,
      changes: shownChanges(planned, keys, dryRun),
    };
  });
}

/** Creates missing keys of the organization. Call this outside a transaction, as `Keyring.ensure` requires. */
async function ensureKeys({ db, keyring }: SecretWriteContext, organizationId: string): Promise<void> {
  try {
    await keyring.ensure(db, organizationId);
  } catch (error) {
    if (!(error instanceof DamagedDataError)) throw error;
    const message =
      'The keys of this organization are lost, so its secret sets can be neither decrypted nor written. Ask the operator to restore the keys, or delete all secret sets of the organization and set them again.';
    throw createApiError('secret-set-damaged', { message, cause: error });
  }
}

async function readinessOf(
  { db, now }: SecretWriteContext,
  { set, draft, retriesDelivery }: PlannedWrite,
  revision: number,
  dryRun: boolean,
): Promise<SecretWriteResult['readiness']> {
  const state = (await findSecretDelivery(db, set.id, revision))?.state ?? null;
  if (state !== 'failed' || draft !== null || dryRun || !retriesDelivery) return state;
  await retrySecretDelivery(db, { setId: set.id, revision }, now());
  return 'pending';
}

function shownChanges({ set, changes, values }: PlannedWrite, keys: CurrentKeysOfOrganization, dryRun: boolean) {
  return changes.map(({ key, change }) => {
    const value = values.get(key);
    // Omit fingerprints in a dry run for a new set. They depend on the id of the set, which a dry run discards, so a later
    // response would contain other fingerprints.
    const hasFingerprint = value !== undefined && !(dryRun && set.revision === 0);
    const at = { setId: set.id, key };
    return {
      key,
      change,
      bytes: value?.length ?? null,
      fingerprint: hasFingerprint
        ? formatFingerprint(computeSecretValueFingerprint(keys.fingerprint, at, value))
        : null,
    };
  });
}
