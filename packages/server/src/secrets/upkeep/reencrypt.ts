import type { Database, VaultFinding } from '../../store/tables.ts';
import { type CheckRow, checkRowsOf, keepCheck } from '../check-rows.ts';
import { openRow, requireRevisionStamp, requireSetStamp } from '../open-set.ts';
import type { PinRow } from '../pin-rows.ts';
import { changeSet, type RevisionRow, type SecretSetRow, type ValueRow } from '../rows.ts';
import { type SealingKeys, sealingKeys, sealRow } from '../seal-row.ts';
import { requireCheckStamp, stampedCheck } from '../stamped-check.ts';
import { revisionFields, setFields } from '../stamped-fields.ts';
import { requirePinStamp, stampedPin } from '../stamped-pins.ts';
import { DamagedError } from '../vault/damaged.ts';
import { stampRow, stampVersion } from '../vault/fingerprint.ts';
import { RootKeyMissing } from '../vault/root-key.ts';
import type { Advance, Swept, UpkeepContext } from './context.ts';
import {
  findOrganization,
  lockPinsBehind,
  lockStampsBehind,
  lockValuesBehind,
  replacePinStamp,
  replaceRevisionStamp,
  replaceValue,
  revisionRowsOf,
  setById,
  type ValueName,
} from './rows.ts';

const valuesAtOnce = 50;
const setsAtOnce = 20;
const pinsAtOnce = 50;

/**
 * Seals and stamps with the newest keys of their organizations what former ones did, one time around: each value is opened
 * at its place and sealed there again. What is not as it was written is never sealed anew, it stays as it is and is told.
 * What somebody else is at is left for the next time. Reads and writes go on.
 */
export async function reencrypt(context: UpkeepContext, advance: Advance): Promise<Swept> {
  const values = await resealValues(context, advance);
  const stamps = await restamp(context, advance);
  const pins = await restampPins(context, advance);
  return {
    findings: [...values.findings, ...stamps.findings, ...pins.findings],
    broken: values.broken + stamps.broken + pins.broken,
  };
}

async function resealValues(context: UpkeepContext, advance: Advance): Promise<Swept> {
  const findings: VaultFinding[] = [];
  for (let after: ValueName | null = null; ; ) {
    const rows: ValueRow[] = await context.db.transaction().execute(async (db) => {
      const found = await lockValuesBehind(db, after, valuesAtOnce);
      for (const row of found) {
        const set = await setById(db, row.set_id);
        if (set === undefined) continue;
        await unlessDamaged({ db, set, findings }, () => reseal({ ...context, db }, set, row));
      }
      return found;
    });
    after = rows.at(-1) ?? null;
    if (after === null) return { findings, broken: findings.length };
    await advance(rows.length);
  }
}

async function reseal(context: UpkeepContext, set: SecretSetRow, row: ValueRow): Promise<void> {
  const value = await openRow(context, set, row);
  const keys = await sealingKeys(context, set.organization_id);
  const of = { key: row.key, revision: row.revision, createdAt: row.created_at };
  await replaceValue(context.db, sealRow(keys, set, of, value));
  value.fill(0);
}

async function restamp(context: UpkeepContext, advance: Advance): Promise<Swept> {
  const findings: VaultFinding[] = [];
  const broken = new Set<string>();
  for (let after: string | null = null; ; ) {
    const sets: SecretSetRow[] = await context.db.transaction().execute(async (db) => {
      const found = await lockStampsBehind(db, after, setsAtOnce);
      for (const set of found) {
        const before = findings.length;
        const of = { db, set, findings };
        await unlessDamaged(of, async () => {
          const keys = await sealingKeys({ ...context, db }, set.organization_id);
          await unlessDamaged(of, () => restampSet({ ...context, db }, set, keys));
          for (const revision of await revisionRowsOf(db, set.id)) {
            await unlessDamaged(of, () => restampRevision({ ...context, db }, set, revision, keys));
          }
          for (const check of await checkRowsOf(db, set.id)) {
            await unlessDamaged(of, () => restampCheck({ ...context, db }, set, check, keys));
          }
        });
        if (findings.length > before) broken.add(set.id);
      }
      return found;
    });
    after = sets.at(-1)?.id ?? null;
    if (after === null) return { findings, broken: broken.size };
    await advance(sets.length);
  }
}

async function restampSet(context: UpkeepContext, set: SecretSetRow, keys: SealingKeys): Promise<void> {
  if (stampVersion(set.stamp) === keys.stamp.version) return;
  await requireSetStamp(context, set);
  await changeSet(context.db, set.id, { stamp: stampRow(keys.stamp, 'secret_sets', setFields(set)) });
}

async function restampRevision(
  context: UpkeepContext,
  set: SecretSetRow,
  row: RevisionRow,
  keys: SealingKeys,
): Promise<void> {
  if (stampVersion(row.stamp) === keys.stamp.version) return;
  await requireRevisionStamp(context, set, row);
  const stamp = stampRow(keys.stamp, 'secret_revisions', revisionFields(row));
  await replaceRevisionStamp(context.db, { setId: set.id, revision: row.revision }, stamp);
}

async function restampCheck(
  context: UpkeepContext,
  set: SecretSetRow,
  row: CheckRow,
  keys: SealingKeys,
): Promise<void> {
  if (stampVersion(row.stamp) === keys.stamp.version) return;
  await requireCheckStamp(context, set, row);
  await keepCheck(context.db, stampedCheck(keys.stamp, row));
}

/** Deployments have their pins for good, those to sets that were deleted too. */
async function restampPins(context: UpkeepContext, advance: Advance): Promise<Swept> {
  const findings: VaultFinding[] = [];
  for (let after: PinRow | null = null; ; ) {
    const rows: PinRow[] = await context.db.transaction().execute(async (db) => {
      const found = await lockPinsBehind(db, after, pinsAtOnce);
      for (const row of found) {
        const set = { organization_id: row.organization_id, name: row.set_name };
        await unlessDamaged({ db, set, findings }, async () => {
          await requirePinStamp({ ...context, db }, row);
          const key = await context.keyring.current(db, row.organization_id, 'stamp');
          await replacePinStamp(db, stampedPin(key, row));
        });
      }
      return found;
    });
    after = rows.at(-1) ?? null;
    if (after === null) return { findings, broken: findings.length };
    await advance(rows.length);
  }
}

async function unlessDamaged(
  of: {
    readonly db: Database;
    readonly set: Pick<SecretSetRow, 'organization_id' | 'name'>;
    readonly findings: VaultFinding[];
  },
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof DamagedError || error instanceof RootKeyMissing)) throw error;
    const organization = (await findOrganization(of.db, of.set.organization_id))?.name ?? of.set.organization_id;
    of.findings.push({ organization, set: of.set.name, problem: error.message });
  }
}
