import { failure, secretSetsPerOrganization, type WrittenSecrets } from '@bothost/contract';
import { keysOf, planChange } from './change.ts';
import { expiryOf, isSameTime } from './expiry.ts';
import { readSet, type SetContent, unchangedKeys } from './read-set.ts';
import { requireKnown, requireRegion, requireRevision, requireSize } from './refusals.ts';
import { countSets, findSet, lockNewSets, type SecretSetRow } from './rows.ts';
import type { WriteRequest } from './write-request.ts';
import { carryOut, type PlannedWrite, type WriteContext, type WriteScope } from './write-transaction.ts';

/** The regions in which sets can be, and the one of a new set whose request names none. */
export type Regions = { readonly known: readonly string[]; readonly standard: string };

/**
 * Writes all keys of a request as one revision: values, revision, delivery and audit entry are stored together or not at all.
 * If nothing changes, a failed delivery is tried again.
 *
 * @throws failure `region-unknown`, `secret-set-kind`, `secret-set-region`, `secret-set-too-large`, `secret-sets-too-many`,
 * `secret-set-not-found`, `secret-not-found`, `secret-set-changed`, `secret-set-damaged`
 */
export function writeSecrets(
  context: WriteContext,
  scope: WriteScope,
  name: string,
  request: WriteRequest,
  regions: Regions,
): Promise<WrittenSecrets> {
  return carryOut(context, scope, request.dryRun, async (inside) => {
    const found = await findSet(inside.db, scope.organizationId, name, 'update');
    const set = found ?? (await newSet(inside, scope.organizationId, name, request, regions));
    if (set.kind !== request.kind) throw failure(request.values.size === 0 ? 'secret-not-found' : 'secret-set-kind');
    if (request.region !== null) requireRegion(set, request.region, regions.known);
    requireRevision(set, request.expectedRevision);
    const before = found === undefined && set.revision === 0 ? emptySet : await readSet(inside, set);
    if (request.remove.some((key) => !before.rows.has(key))) throw failure('secret-not-found');
    return planWrite(inside, set, before, request);
  });
}

const emptySet: SetContent = { host: null, expiresAt: null, entries: [], rows: new Map() };

/** The row of a new set at revision 0; or the existing set, locked, if another server created it meanwhile. */
async function newSet(
  context: WriteContext,
  organizationId: string,
  name: string,
  request: WriteRequest,
  regions: Regions,
): Promise<SecretSetRow> {
  const { db } = context;
  if (request.values.size === 0) throw failure('secret-set-not-found');
  const region = request.region ?? regions.standard;
  requireKnown(region, regions.known);
  await lockNewSets(db, organizationId);
  const found = await findSet(db, organizationId, name, 'update');
  if (found !== undefined) return found;
  if ((await countSets(db, organizationId)) >= secretSetsPerOrganization) {
    const message = `The organization already has ${secretSetsPerOrganization} secret sets, which is the limit. Delete one first.`;
    throw failure('secret-sets-too-many', { message });
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
  context: WriteContext,
  set: SecretSetRow,
  before: SetContent,
  request: WriteRequest,
): Promise<PlannedWrite> {
  const unchanged = await unchangedKeys(context, set, before.rows, request.values);
  const plan = planChange(
    before.entries,
    { keys: [...request.values.keys()], remove: request.remove, mode: request.mode },
    set.revision + 1,
    (key) => unchanged.has(key),
  );
  requireSize(plan.entries, before.rows, request.values);
  const expiresAt = expiryOf(request, plan.changed ? null : before.expiresAt, context.now());
  const written = new Set([...keysOf(plan.changes, 'new'), ...keysOf(plan.changes, 'changed')]);
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
