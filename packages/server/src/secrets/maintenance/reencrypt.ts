import type { VaultDamageFinding } from '../../store/tables.ts';
import { decryptRow, encryptToRow, readCurrentKeysOfOrganization, readValueRows } from '../encrypted-values.ts';
import { decryptProviderKey, reencryptProviderKey } from '../provider-key.ts';
import { listProviderKeysWithFormerKeys, lockProviderKeyRows } from '../provider-key-rows.ts';
import { computeRevisionMac, requireRevisionMac } from '../revision-mac.ts';
import {
  listRevisionRows,
  lockSecretSet,
  type RevisionRow,
  type SecretSetRow,
  updateRevisionMac,
  type ValueRow,
} from '../rows.ts';
import { DamagedDataError } from '../vault/damaged-data-error.ts';
import { createCachingKeyring } from '../vault/keyring.ts';
import { RootKeyMissingError } from '../vault/root-key.ts';
import { findVaultProblem } from '../vault/vault-state.ts';
import type { MaintenanceContext, MaintenancePass, PinnedRevisionLookup, ProgressReporter } from './context.ts';
import { listOrganizationsWithVaultData } from './organizations.ts';
import {
  listDeliveredRevisions,
  listSecretSetNames,
  listSetsWithFormerKeys,
  listValueRows,
  listVaultKeys,
  replaceEncryptedValue,
} from './reencrypt-rows.ts';

type Context = MaintenanceContext & { readonly pinsOf: PinnedRevisionLookup };
type ProblemList = string[];

/**
 * Verifies, in one pass, that the root key decrypts the canary (a known text), and the keys and secret sets of one or all
 * organizations. Re-encrypts each set and provider key that uses former keys and has no damaged data, unless this is a dry run. Locks one set at
 * a time, so that other requests can read and write secrets during the pass. Findings contain no secret values.
 */
export async function reencryptSecrets(
  context: Context,
  { organizationId, isDryRun }: { readonly organizationId: string | null; readonly isDryRun: boolean },
  advance: ProgressReporter,
): Promise<MaintenancePass> {
  const findings: VaultDamageFinding[] = [];
  const damaged = new Set<string>();
  const listRemaining = async () =>
    isDryRun
      ? []
      : [
          ...(await listSetsWithFormerKeys(context.db, organizationId)),
          ...(await listProviderKeysWithFormerKeys(context.db, organizationId)),
        ];
  const remaining = new Set(await listRemaining());
  const canary = await findVaultProblem(context);
  if (canary !== null) findings.push({ organization: '', set: null, problem: canary });
  for (const { id, name } of await listOrganizationsWithVaultData(context.db)) {
    if (organizationId !== null && id !== organizationId) continue;
    for (const problem of await verifyKeys(context, id)) findings.push({ organization: name, set: null, problem });
    for (const set of await listSecretSetNames(context.db, id)) {
      const { damage, missing } = await context.db
        .transaction()
        .execute((db) => verifySet({ ...context, db }, set.id, remaining.has(set.id)));
      for (const problem of [...damage, ...missing]) findings.push({ organization: name, set: set.name, problem });
      if (damage.length > 0) damaged.add(set.id);
      await advance(1);
    }
    const providerKeys = await context.db
      .transaction()
      .execute((db) => verifyProviderKeys({ ...context, db }, id, remaining));
    for (const key of providerKeys) {
      findings.push({ organization: name, set: null, problem: key.problem });
      damaged.add(key.id);
    }
  }
  // A write that read the former keys before the rotation may have stored a set after this pass had listed the sets.
  return { isDone: (await listRemaining()).every((id) => damaged.has(id)), findings };
}

async function verifyKeys(context: MaintenanceContext, organizationId: string): Promise<ProblemList> {
  const problems: ProblemList = [];
  for (const { purpose, version } of await listVaultKeys(context.db, organizationId)) {
    const at = `the ${purpose} key of version ${version}: `;
    await addDamage(problems, () => context.keyring.version(context.db, organizationId, purpose, version), at);
  }
  return problems;
}

/** Verifies the provider keys of an organization, and re-encrypts those in `remaining`. Returns the damaged ones. */
async function verifyProviderKeys(
  context: Pick<Context, 'db' | 'keyring'>,
  organizationId: string,
  remaining: ReadonlySet<string>,
): Promise<{ readonly id: string; readonly problem: string }[]> {
  const damaged: { readonly id: string; readonly problem: string }[] = [];
  for (const row of await lockProviderKeyRows(context.db, organizationId)) {
    const id = `${organizationId} ${row.provider}`;
    const problems: ProblemList = [];
    const work = async () =>
      remaining.has(id) ? reencryptProviderKey(context, row) : (await decryptProviderKey(context, row)).fill(0);
    await addDamage(problems, work, `the key of the provider ${row.provider}: `);
    damaged.push(...problems.map((problem) => ({ id, problem })));
  }
  return damaged;
}

/** Verifies a set, and re-encrypts it if `shouldReencrypt`. A set with any damaged data is not changed at all. */
async function verifySet(
  context: Context,
  id: string,
  shouldReencrypt: boolean,
): Promise<{ readonly damage: ProblemList; readonly missing: ProblemList }> {
  const { db } = context;
  const set = await lockSecretSet(db, id);
  if (set === undefined) return { damage: [], missing: [] };
  const reading = { db, keyring: createCachingKeyring(context.keyring) };
  const revisions = await listRevisionRows(db, id);
  const values = await listValueRows(db, id);
  const damage: ProblemList = [];
  for (const row of revisions) {
    await addDamage(damage, async () => {
      await requireRevisionMac(reading, set, row);
      await readValueRows(db, row);
    });
  }
  for (const row of values) {
    const at = `the value of ${row.key} of revision ${row.revision}: `;
    await addDamage(damage, async () => (await decryptRow(reading, set, row)).fill(0), at);
  }
  if (shouldReencrypt) await addDamage(damage, () => readCurrentKeysOfOrganization(reading, set.organization_id));
  if (shouldReencrypt && damage.length === 0) await reencryptSet(reading, set, revisions, values);
  return { damage, missing: await findMissingRevisions(context, set, revisions) };
}

/** Re-encrypts a set whose values and current keys have been verified. */
async function reencryptSet(
  reading: Pick<Context, 'db' | 'keyring'>,
  set: SecretSetRow,
  revisions: readonly RevisionRow[],
  values: readonly ValueRow[],
): Promise<void> {
  const keys = await readCurrentKeysOfOrganization(reading, set.organization_id);
  for (const row of values) {
    const value = await decryptRow(reading, set, row);
    const { key, revision, created_at: createdAt } = row;
    await replaceEncryptedValue(reading.db, encryptToRow(keys, set, { key, revision, createdAt }, value));
    value.fill(0);
  }
  for (const row of revisions)
    await updateRevisionMac(reading.db, set.id, row.revision, computeRevisionMac(keys.mac, set, row));
}

async function findMissingRevisions(
  { db, pinsOf }: Context,
  set: SecretSetRow,
  rows: readonly RevisionRow[],
): Promise<ProblemList> {
  const revisions = rows.map(({ revision }) => revision);
  const delivered = (await listDeliveredRevisions(db, set.id)).map(({ revision }) => revision);
  const pins = new Set(await pinsOf(db, set.id));
  return [
    ...(revisions.includes(set.revision) ? [] : [`the newest revision, ${set.revision}, is missing`]),
    ...revisions
      .filter((revision) => !delivered.includes(revision))
      .map((revision) => `revision ${revision} has no delivery, so it never becomes ready`),
    ...[...pins]
      .filter((pin) => !revisions.includes(pin))
      .map((pin) => `revision ${pin}, which a deployment runs with, is missing`),
  ];
}

async function addDamage(problems: ProblemList, work: () => Promise<unknown>, at = ''): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof DamagedDataError || error instanceof RootKeyMissingError)) throw error;
    problems.push(at + error.message);
  }
}
