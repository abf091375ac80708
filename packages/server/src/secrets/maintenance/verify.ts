import type { VaultDamageFinding } from '../../store/tables.ts';
import { decryptRow, readValueRows } from '../encrypted-values.ts';
import { requireRevisionMac } from '../revision-mac.ts';
import { findSecretSetById, listRevisionRows, type RevisionRow, type SecretSetRow } from '../rows.ts';
import { readWithinDatabaseSnapshot } from '../snapshot.ts';
import { DamagedDataError } from '../vault/damaged.ts';
import { createCachingKeyring } from '../vault/keyring.ts';
import { RootKeyMissingError } from '../vault/root-key.ts';
import { findVaultProblem } from '../vault/vault-state.ts';
import type { MaintenanceContext, PinnedRevisionLookup, ProgressReporter } from './context.ts';
import { listOrganizationsWithVaultData } from './organizations.ts';
import { listValueRows } from './reencrypt-rows.ts';
import { listDeliveredSecretRevisions, listSecretSetRows, listVaultKeysOfOrganization } from './verify-rows.ts';

type VerifyContext = MaintenanceContext & { readonly pinsOf: PinnedRevisionLookup };
type Report = (problem: string) => unknown;

/**
 * Verifies keys, MACs and values, and that the root key decrypts the canary (a known text). Reads each secret set in one
 * snapshot. Findings contain no secret values.
 */
export async function verifyVault(
  context: VerifyContext,
  organizationId: string | null,
  advance: ProgressReporter,
): Promise<readonly VaultDamageFinding[]> {
  const findings: VaultDamageFinding[] = [];
  const canary = await findVaultProblem(context);
  if (canary !== null) findings.push({ organization: '', set: null, problem: canary });
  for (const { id, name } of await listOrganizationsWithVaultData(context.db)) {
    if (organizationId !== null && id !== organizationId) continue;
    const reportFor = (set: string | null) => (problem: string) => findings.push({ organization: name, set, problem });
    await verifyKeys(context, id, reportFor(null));
    for (const set of await listSecretSetRows(context.db, id)) {
      await readWithinDatabaseSnapshot(context.db, async (db) => {
        const row = await findSecretSetById(db, id, set.id);
        const keyring = createCachingKeyring(context.keyring);
        if (row !== undefined) await verifySet({ ...context, keyring, db }, row, reportFor(set.name));
      });
      await advance(1);
    }
  }
  return findings;
}

async function verifyKeys(context: MaintenanceContext, organizationId: string, report: Report): Promise<void> {
  for (const { purpose, version } of await listVaultKeysOfOrganization(context.db, organizationId)) {
    const at = `the ${purpose} key of version ${version}: `;
    await reportDamage(report, () => context.keyring.version(context.db, organizationId, purpose, version), at);
  }
}

async function verifySet(context: VerifyContext, set: SecretSetRow, report: Report): Promise<void> {
  const { db } = context;
  const revisions = await listRevisionRows(db, set.id);
  for (const row of revisions) {
    await reportDamage(report, async () => {
      await requireRevisionMac(context, set, row);
      await readValueRows(db, row);
    });
  }
  for (const row of await listValueRows(db, set.id)) {
    const at = `the value of ${row.key} of revision ${row.revision}: `;
    await reportDamage(report, async () => (await decryptRow(context, set, row)).fill(0), at);
  }
  await verifyReferences(context, set, revisions, report);
}

async function verifyReferences(
  { db, pinsOf }: VerifyContext,
  set: SecretSetRow,
  rows: readonly RevisionRow[],
  report: Report,
): Promise<void> {
  const revisions = new Set(rows.map(({ revision }) => revision));
  const delivered = new Set((await listDeliveredSecretRevisions(db, set.id)).map(({ revision }) => revision));
  if (!revisions.has(set.revision)) report(`the newest revision, ${set.revision}, is missing`);
  for (const revision of revisions) {
    if (!delivered.has(revision)) report(`revision ${revision} has no delivery, so it never becomes ready`);
  }
  for (const pin of new Set(await pinsOf(db, set.id))) {
    if (!revisions.has(pin)) report(`revision ${pin}, which a deployment runs with, is missing`);
  }
}

async function reportDamage(report: Report, work: () => Promise<unknown>, at = ''): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof DamagedDataError || error instanceof RootKeyMissingError)) throw error;
    report(at + error.message);
  }
}
