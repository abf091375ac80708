import { failure, type WrittenSecrets } from '@bothost/contract';
import { appendAudit } from '../audit/append.ts';
import type { Actor, AuditEvent } from '../audit/chain.ts';
import type { Database } from '../store/tables.ts';
import { keysOf, planChange } from './change.ts';
import { findDelivery, retryDelivery } from './delivery-rows.ts';
import { expiryOf, isSameTime } from './expiry.ts';
import { recordRevision } from './new-revision.ts';
import { makeSet } from './new-set.ts';
import { readSet, type SetContent, sameKeys } from './read-set.ts';
import { requireKnown, requireRegion, requireRevision, requireSize } from './refusals.ts';
import { findSet, type SecretSetRow } from './rows.ts';
import { sealingKeys, sealRow } from './seal-row.ts';
import { DamagedError } from './vault/damaged.ts';
import { fingerprintOf, shownFingerprint } from './vault/fingerprint.ts';
import type { Keyring } from './vault/keyring.ts';
import type { WantedSecrets } from './wanted.ts';

export type WriteContext = {
  readonly db: Database;
  readonly now: () => Date;
  readonly newId: () => string;
  readonly keyring: Keyring;
};
export type WriteScope = Actor & { readonly organizationId: string; readonly keyId: string };
/** Where sets can be, and where one goes whose request names no region. */
export type Regions = { readonly known: readonly string[]; readonly standard: string };

/** What a write comes to, with what the log says of it. Of a dry run the transaction ends by throwing it. */
export type Outcome = { readonly answer: WrittenSecrets; readonly event: AuditEvent };
class DryRun extends Error {
  readonly outcome: Outcome;
  constructor(outcome: Outcome) {
    super('a dry run');
    this.outcome = outcome;
  }
}

/**
 * Does a write in one transaction, with its line in the log; of a dry run nothing but that line stays. Keys of the
 * organization are made before: with a transaction that fails, keys that others have used by then would be lost.
 */
export async function inOneWrite(
  context: WriteContext,
  scope: WriteScope,
  dryRun: boolean,
  work: (inside: WriteContext) => Promise<Outcome>,
): Promise<WrittenSecrets> {
  await requireKeys(context, scope.organizationId);
  try {
    return await context.db.transaction().execute(async (db) => {
      const outcome = await work({ ...context, db });
      if (dryRun) throw new DryRun(outcome);
      await appendAudit(db, scope.organizationId, outcome.event);
      return outcome.answer;
    });
  } catch (error) {
    if (!(error instanceof DryRun)) throw error;
    const { answer, event } = error.outcome;
    const told = { ...event, revisionAfter: event.revisionBefore, result: 'dry-run' };
    await context.db.transaction().execute((db) => appendAudit(db, scope.organizationId, told));
    const readiness = answer.change === 'none' ? answer.readiness : null;
    return { ...answer, dryRun: true, revision: answer.previousRevision, readiness };
  }
}

/** Without its keys an organization can write no set, neither an old nor a new one. @throws failure `secret-set-damaged` */
async function requireKeys({ db, keyring }: WriteContext, organizationId: string): Promise<void> {
  try {
    await keyring.require(db, organizationId);
  } catch (error) {
    if (!(error instanceof DamagedError)) throw error;
    const message =
      'The keys of this organization are lost, so no secret set of it can be opened or written. Ask the operator to restore them, or delete all of its secret sets and set them again.';
    throw failure('secret-set-damaged', { message, cause: error });
  }
}

/**
 * Writes all keys of a request as one revision: values, revision, delivery and log come together or not at all. The same
 * values again change nothing, but that a delivery that failed is tried again.
 *
 * @throws failure `region-unknown`, `secret-set-kind`, `secret-set-region`, `secret-set-too-large`, `secret-sets-too-many`,
 * `secret-set-not-found`, `secret-not-found`, `secret-set-changed`, `secret-set-damaged`
 */
export function writeSecrets(
  context: WriteContext,
  scope: WriteScope,
  name: string,
  wanted: WantedSecrets,
  regions: Regions,
): Promise<WrittenSecrets> {
  return inOneWrite(context, scope, wanted.dryRun, async (inside) => {
    const { organizationId } = scope;
    const found = await findSet(inside.db, organizationId, name, 'update');
    const set = found ?? (await makeSet(inside, firstRow(organizationId, name, wanted, regions)));
    if (set.kind !== wanted.kind) throw failure(wanted.values.size === 0 ? 'secret-not-found' : 'secret-set-kind');
    if (wanted.region !== null) requireRegion(set, wanted.region, regions.known);
    requireRevision(set, wanted.expectedRevision);
    // One that was there at revision 0 was changed by somebody else.
    const before = found === undefined && set.revision === 0 ? nothing : await readSet(inside, set);
    if (wanted.remove.some((key) => !before.rows.has(key))) throw failure('secret-not-found');
    return write(inside, scope, set, before, wanted);
  });
}

const nothing: SetContent = { host: null, expiresAt: null, entries: [], rows: new Map() };

function firstRow(organizationId: string, name: string, wanted: WantedSecrets, regions: Regions) {
  if (wanted.values.size === 0) throw failure('secret-set-not-found');
  const region = wanted.region ?? regions.standard;
  requireKnown(region, regions.known);
  return { organization_id: organizationId, name, kind: wanted.kind, region };
}

async function write(
  context: WriteContext,
  scope: WriteScope,
  set: SecretSetRow,
  before: SetContent,
  wanted: WantedSecrets,
): Promise<Outcome> {
  const { db } = context;
  const next = set.revision + 1;
  const same = await sameKeys(context, set, before.rows, wanted.values);
  const plan = planChange(
    before.entries,
    { keys: [...wanted.values.keys()], remove: wanted.remove, mode: wanted.mode },
    next,
    (key) => same.has(key),
  );
  requireSize(plan.entries, before.rows, wanted.values);
  const keys = await sealingKeys(context, set.organization_id);
  const createdAt = context.now();
  const written = [...keysOf(plan.changes, 'new'), ...keysOf(plan.changes, 'changed')];
  const values = written.flatMap((key) => {
    const value = wanted.values.get(key);
    return value === undefined ? [] : [sealRow(keys, set, { key, revision: next, createdAt }, value)];
  });
  const expiresAt = expiryOf(wanted, plan.changed ? null : before.expiresAt, createdAt);
  const isChange = plan.changed || before.host !== wanted.host || !isSameTime(before.expiresAt, expiresAt);
  const revision = isChange
    ? await recordRevision(context, set, scope.keyId, keys, {
        action: wanted.values.size === 0 ? 'unset' : wanted.mode === 'replace' ? 'replace' : 'set',
        rolledBackTo: null,
        host: wanted.host,
        expiresAt,
        entries: plan.entries,
        changes: plan.changes,
        values,
      })
    : set.revision;
  const delivery = (await findDelivery(db, set.id, revision))?.state ?? null;
  // The same values for what failed: the reason may be gone, as after a backup was put back.
  const isTriedAgain = delivery === 'failed' && !wanted.dryRun;
  if (isTriedAgain) await retryDelivery(db, { setId: set.id, revision }, createdAt);
  const changes = plan.changes.map(({ key, change }) => {
    const value = wanted.values.get(key);
    // What a dry run makes of a new set is gone with it, and its fingerprints are nobody's.
    const isNobodys = wanted.dryRun && set.revision === 0;
    const fingerprint =
      value === undefined || isNobodys
        ? null
        : shownFingerprint(fingerprintOf(keys.fingerprint, { setId: set.id, key }, value));
    return { key, change, bytes: value?.length ?? null, fingerprint };
  });
  return {
    answer: {
      status: 'OK',
      name: set.name,
      type: set.kind,
      region: set.region,
      readiness: isTriedAgain ? 'pending' : delivery,
      revision,
      previousRevision: set.revision === 0 ? null : set.revision,
      change: !isChange ? 'none' : set.revision === 0 ? 'created' : 'updated',
      dryRun: false,
      ...(wanted.host === null ? {} : { host: wanted.host, expiresAt: expiresAt?.toISOString() ?? null }),
      changes,
    },
    event: {
      at: createdAt,
      actor: scope,
      action: wanted.values.size === 0 ? 'secrets.unset' : 'secrets.set',
      object: set.name,
      region: set.region,
      keys: plan.changes.filter(({ change }) => change !== 'unchanged').map(({ key }) => key),
      revisionBefore: set.revision,
      revisionAfter: revision,
      result: isChange ? 'done' : 'unchanged',
    },
  };
}
