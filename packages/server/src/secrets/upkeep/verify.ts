import { verifyAudit } from '../../audit/verify.ts';
import type { Database, VaultFinding } from '../../store/tables.ts';
import { openRow, requireRevisionStamp, requireSetWhole } from '../open-set.ts';
import type { RevisionRow, SecretSetRow, ValueRow } from '../rows.ts';
import { inSnapshot } from '../snapshot.ts';
import { DamagedError } from '../vault/damaged.ts';
import { RootKeyMissing } from '../vault/root-key.ts';
import { vaultProblem } from '../vault/vault-state.ts';
import type { Advance, UpkeepContext } from './context.ts';
import { organizationsWithKeys, revisionRowsOf } from './rows.ts';
import {
  deliveriesOf,
  keysOfOrganization,
  type LoggedSet,
  loggedSets,
  setIdsOf,
  setOfOrganization,
  valueRowsOfSet,
} from './verify-rows.ts';

/** Revisions that deployments run with, of one set. */
export type PinsOf = (db: Database, setId: string) => Promise<readonly number[]>;
type Organization = { readonly id: string; readonly name: string };

/**
 * Opens all that is stored: the canary, each organization's keys, and of each set every row. Values have to open at their
 * place and fit their fingerprints; history, pointers, deliveries, the pins of deployments and the audit log have to name
 * each other. Answers what is damaged, without values; all else is looked at all the same. Each set is looked at as it is at
 * one moment, and reads and writes go on.
 */
export async function verifyVault(
  context: UpkeepContext & { readonly pinsOf: PinsOf },
  organizationId: string | null,
  advance: Advance,
): Promise<readonly VaultFinding[]> {
  const findings: VaultFinding[] = [];
  const canary = await vaultProblem(context);
  if (canary !== null) findings.push({ organization: '', set: null, problem: canary });
  for (const organization of await organizationsWithKeys(context.db)) {
    if (organizationId !== null && organization.id !== organizationId) continue;
    const found = (set: string | null) => (problem: string) =>
      findings.push({ organization: organization.name, set, problem });
    await verifyKeys(context, organization, found(null));
    await tellDamage(found(null), async () => {
      const log = await verifyAudit(context, { organizationId: organization.id });
      if (!log.ok) found(null)(`the audit log is not what was written from entry ${log.brokenAt} on`);
    });
    for (const { id, name } of await setIdsOf(context.db, organization.id)) {
      await inSnapshot(context.db, (db) => verifySet({ ...context, db }, organization, id, found(name)));
      await advance(1);
    }
    await verifyLoggedSets(context, organization, found);
  }
  return findings;
}

type Tell = (problem: string) => unknown;

async function verifyKeys(context: UpkeepContext, organization: Organization, tell: Tell): Promise<void> {
  for (const { purpose, version } of await keysOfOrganization(context.db, organization.id)) {
    const at = `the ${purpose} key of version ${version}: `;
    await tellDamage(tell, () => context.keyring.version(context.db, organization.id, purpose, version), at);
  }
}

async function verifySet(
  context: UpkeepContext & { readonly pinsOf: PinsOf },
  organization: Organization,
  setId: string,
  tell: Tell,
): Promise<void> {
  const { db } = context;
  const set = await setOfOrganization(db, organization.id, setId);
  // Deleted since it was listed.
  if (set === undefined) return;
  await tellDamage(tell, () => requireSetWhole(context, set));
  const values = await valueRowsOfSet(db, setId);
  const revisions: RevisionRow[] = [];
  for (const row of await revisionRowsOf(db, setId)) {
    const work = async () => {
      await requireRevisionStamp(context, set, row);
      revisions.push(row);
    };
    await tellDamage(tell, work, `revision ${row.revision}: `);
  }
  await verifyValues(context, set, revisions, values, tell);
  await verifyPointers(context, set, revisions, tell);
}

async function verifyValues(
  context: UpkeepContext,
  set: SecretSetRow,
  revisions: readonly RevisionRow[],
  values: readonly ValueRow[],
  tell: Tell,
): Promise<void> {
  const named = new Set(revisions.flatMap(({ entries }) => entries.map(nameOf)));
  const present = new Set(values.map(({ key, revision }) => nameOf([key, revision])));
  for (const name of named) if (!present.has(name)) tell(`the value of ${name} is missing`);
  for (const row of values) {
    const name = nameOf([row.key, row.revision]);
    if (!named.has(name)) tell(`there is a value of ${name}, which no revision has`);
    await tellDamage(tell, async () => (await openRow(context, set, row)).fill(0), `the value of ${name}: `);
  }
}

function nameOf([key, revision]: readonly [string, number]): string {
  return `${key} of revision ${revision}`;
}

async function verifyPointers(
  { db, pinsOf }: UpkeepContext & { readonly pinsOf: PinsOf },
  set: SecretSetRow,
  revisions: readonly RevisionRow[],
  tell: Tell,
): Promise<void> {
  const deliveries = await deliveriesOf(db, set.id);
  for (const { revision } of revisions) {
    const delivery = deliveries.find((one) => one.revision === revision);
    if (delivery === undefined) tell(`revision ${revision} has no delivery, so it never gets ready`);
    else if (delivery.region !== set.region) tell(`revision ${revision} is delivered to another region`);
  }
  const pins = await pinsOf(db, set.id);
  for (const pin of new Set(pins)) {
    if (!revisions.some(({ revision }) => revision === pin)) {
      tell(`a deployment runs with revision ${pin}, which is not there`);
    }
  }
}

/** The log says at which revision each set is, and which are deleted: an old state that was put back is another one. */
async function verifyLoggedSets(
  context: UpkeepContext,
  organization: Organization,
  found: (set: string | null) => Tell,
): Promise<void> {
  for (const logged of await loggedSets(context.db, organization.id)) {
    const problem = loggedProblem(logged);
    if (problem !== null) found(logged.name)(problem);
  }
}

function loggedProblem({ action, logged, revision }: LoggedSet): string | null {
  if (action === 'secrets.delete') return revision === null ? null : 'the audit log says that it was deleted';
  if (action === null) return 'the audit log does not name it';
  if (revision === null) return `the audit log says that it is at revision ${logged}, and it is not there`;
  return revision === logged ? null : `it is at revision ${revision}, and the audit log says ${logged}`;
}

/** What is so much another thing that it cannot be read is damaged, too. */
async function tellDamage(tell: Tell, work: () => Promise<unknown>, at = ''): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) tell(`${at}it cannot be read`);
    else if (error instanceof DamagedError || error instanceof RootKeyMissing) tell(at + error.message);
    else throw error;
  }
}
