import { createApiError, maxSecretSetsPerOrganization, type SecretWriteResult } from '@bothost/contract';
import { listKeysWithChangeKind, planChange } from './change.ts';
import { isSameTime, resolveCredentialExpiry } from './expiry.ts';
import { findUnchangedSecretSetKeys, readSecretSet, type SecretSetContent } from './read-set.ts';
import {
  requireExpectedRevision,
  requireKnownRegion,
  requireSecretSetWithinLimits,
  requireUnchangedRegion,
} from './refusals.ts';
import { countSecretSets, findSecretSet, lockSecretSetCreation, type SecretSetRow } from './rows.ts';
import type { WriteRequest } from './write-request.ts';
import {
  type ActorInOrganization,
  executeSecretWrite,
  type PlannedWrite,
  type SecretWriteContext,
} from './write-transaction.ts';

/** The regions in which sets can be stored, and the default region of a new set. */
export type SecretStorageRegions = { readonly known: readonly string[]; readonly standard: string };

/**
 * Writes all keys of a request as one revision: values, revision, delivery and audit entry are stored together or not at all. If
 * nothing changes, a failed delivery is retried.
 *
 * @throws failure `region-unknown`, `secret-set-kind`, `secret-set-region`, `secret-set-too-large`, `secret-sets-too-many`,
 * `secret-set-not-found`, `secret-not-found`, `secret-set-changed`, `secret-set-damaged`
 */
export function writeSecrets(
  context: SecretWriteContext,
  actor: ActorInOrganization,
  name: string,
  request: WriteRequest,
  regions: SecretStorageRegions,
): Promise<SecretWriteResult> {
  return executeSecretWrite(context, actor, request.dryRun, async (inside) => {
    const found = await findSecretSet(inside.db, actor.organizationId, name, 'update');
    const set = found ?? (await newSet(inside, actor.organizationId, name, request, regions));
    if (set.kind !== request.kind)
      throw createApiError(request.values.size === 0 ? 'secret-not-found' : 'secret-set-kind');
    if (request.region !== null) requireUnchangedRegion(set, request.region, regions.known);
    requireExpectedRevision(set, request.expectedRevision);
    const before = found === undefined && set.revision === 0 ? emptySet : await readSecretSet(inside, set);
    if (request.remove.some((key) => !before.rows.has(key))) throw createApiError('secret-not-found');
    return planWrite(inside, set, before, request);
  });
}

const emptySet: SecretSetContent = { host: null, expiresAt: null, entries: [], rows: new Map() };

/** Returns the row of a new set at revision 0. If another server has just created the set, locks and returns that row. */
async function newSet(
  context: SecretWriteContext,
  organizationId: string,
  name: string,
  request: WriteRequest,
  regions: SecretStorageRegions,
): Promise<SecretSetRow> {
  const { db } = context;
  if (request.values.size === 0) throw createApiError('secret-set-not-found');
  const region = request.region ?? regions.standard;
  requireKnownRegion(region, regions.known);
  await lockSecretSetCreation(db, organizationId);
  const found = await findSecretSet(db, organizationId, name, 'update');
  if (found !== undefined) return found;
  if ((await countSecretSets(db, organizationId)) >= maxSecretSetsPerOrganization) {
    const message = `The organization already has ${maxSecretSetsPerOrganization} secret sets, which is the limit. Delete one first.`;
    throw createApiError('secret-sets-too-many', { message });
  }
  const at = context.now();
  return {
    id: context.newId(),
    organization_id: organizationId,
    name,
    kind: request.kind,
    region,
    revision: 0,
    created_at: at,
    updated_at: at,
  };
}

async function planWrite(
  context: SecretWriteContext,
  set: SecretSetRow,
  before: SecretSetContent,
  request: WriteRequest,
): Promise<PlannedWrite> {
  const unchanged = await findUnchangedSecretSetKeys(context, set, before.rows, request.values);
  const plan = planChange(
    before.entries,
    { keys: [...request.values.keys()], remove: request.remove, mode: request.mode },
    set.revision + 1,
    (key) => unchanged.has(key),
  );
  requireSecretSetWithinLimits(plan.entries, before.rows, request.values);
  const expiresAt = resolveCredentialExpiry(request, plan.changed ? null : before.expiresAt, context.now());
  const written = new Set([
    ...listKeysWithChangeKind(plan.changes, 'new'),
    ...listKeysWithChangeKind(plan.changes, 'changed'),
  ]);
  const { host } = request;
  const isUnset = request.values.size === 0;
  const draft = {
    action: isUnset ? 'unset' : request.mode === 'replace' ? 'replace' : 'set',
    rolledBackTo: null,
    host,
    expiresAt,
    entries: plan.entries,
    changes: plan.changes,
    values: new Map([...request.values].filter(([key]) => written.has(key))),
  } as const;
  const isChange = plan.changed || before.host !== host || !isSameTime(before.expiresAt, expiresAt);
  return {
    set,
    draft: isChange ? draft : null,
    changes: plan.changes,
    values: request.values,
    auditAction: isUnset ? 'secrets.unset' : 'secrets.set',
    retriesDelivery: true,
    details: host === null ? {} : { host, expiresAt: expiresAt?.toISOString() ?? null },
  };
}
