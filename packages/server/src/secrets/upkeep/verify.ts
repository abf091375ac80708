import { verifyAudit } from '../../audit/verify.ts';
import type { Database, VaultFinding } from '../../store/tables.ts';
import { checkRowsOf } from '../check-rows.ts';
import { openRow, requireRevisionStamp, requireSetWhole } from '../open-set.ts';
import type { RevisionRow, SecretSetRow, ValueRow } from '../rows.ts';
import { inSnapshot } from '../snapshot.ts';
import { requireCheckStamp } from '../stamped-check.ts';
import { type PinnedDeployment, requireThesePins } from '../stamped-pins.ts';
import { DamagedError } from '../vault/damaged.ts';
import { lookedUpOnce } from '../vault/keyring.ts';
import { RootKeyMissing } from '../vault/root-key.ts';
import { vaultProblem } from '../vault/vault-state.ts';
import type { Advance, UpkeepContext } from './context.ts';
import { organizationsWithKeys, revisionRowsOf } from './rows.ts';
import {
  deliveriesOf,
  keysOfOrganization,
  lostSets,
  pinRowsOfOrganization,
  setIdsOf,
  setOfOrganization,
  valueRowsOfSet,
} from './verify-rows.ts';

/** Revisions that deployments run with, of one set. */
export type PinsOf = (db: Database, setId: string) => Promise<readonly number[]>;
/** All deployments of an organization that say that they are pinned to a set. */
export type PinnedIn = (db: Database, organizationId: string) => Promise<readonly PinnedDeployment[]>;
type VerifyContext = UpkeepContext & { readonly pinsOf: PinsOf; readonly pinnedIn: PinnedIn };
type Organization = { readonly id: string; readonly name: string };

/**
 * Opens all that is stored: the canary, each organization's keys, and of each set every row. Values have to open at their
 * place and fit their fingerprints; history, pointers, deliveries, the pins of deployments and the audit log have to name
 * each other. Answers what is damaged, without values; all else is looked at all the same. Each set is looked at as it is at
 * one moment, and reads and writes go on.
 */
export async function verifyVault(
  context: VerifyContext,
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
    for (const { name, logged } of await lostSets(context.db, organization.id)) {
      found(name)(`the audit log says that it is at revision ${logged}, and it is not there`);
    }
    const keyring = lookedUpOnce(context.keyring);
    await inSnapshot(context.db, (db) => verifyPinned({ ...context, keyring, db }, organization, found));
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

async function verifySet(context: VerifyContext, organization: Organization, setId: string, tell: Tell): Promise<void> {
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
  for (const row of await checkRowsOf(db, setId)) {
    await tellDamage(tell, () => requireCheckStamp(context, set, row), `the check of revision ${row.revision}: `);
  }
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
  { db, pinsOf }: VerifyContext,
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

/** Each deployment says that it is pinned to what it was made with; the name of a set may be what was changed. */
async function verifyPinned(
  context: VerifyContext,
  organization: Organization,
  found: (set: string | null) => Tell,
): Promise<void> {
  const rows = await pinRowsOfOrganization(context.db, organization.id);
  const pinned = new Map((await context.pinnedIn(context.db, organization.id)).map((one) => [one.deploymentId, one]));
  for (const deploymentId of new Set([...rows.map((row) => row.deployment_id), ...pinned.keys()])) {
    const own = rows.filter((row) => row.deployment_id === deploymentId);
    const said = pinned.get(deploymentId);
    await tellDamage(
      found(own[0]?.set_name ?? null),
      async () => {
        if (said === undefined) throw new DamagedError('it is not pinned to what it was made with');
        await requireThesePins(context, said, own);
      },
      `the deployment ${deploymentId}: `,
    );
  }
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
