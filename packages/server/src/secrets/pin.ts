import { failure, type PinnedSecretSet } from '@bothost/contract';
import type { Database, SecretPin } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';
import { shownProblem } from './delivery-problems.ts';
import { findDelivery } from './delivery-rows.ts';
import { openValues } from './open-set.ts';
import { findRevision, findSet, findSetById, newestRevisions } from './rows.ts';
import { inSnapshot } from './snapshot.ts';
import { type PinnedDeployment, requireStampedPins } from './stamped-pins.ts';
import { DamagedError, isDamage } from './vault/damaged.ts';
import { type Keyring, lookedUpOnce } from './vault/keyring.ts';
import { RootKeyMissing } from './vault/root-key.ts';

type Context = { readonly db: Database; readonly keyring: Keyring };

/**
 * The set as a deployment of this region runs with it: its revision of now, which has to be ready. Call it in the
 * transaction that makes the deployment: the set cannot be deleted until that ends.
 *
 * @throws failure `secret-set-not-found`, `secret-set-kind`, `secret-set-elsewhere`, `secret-set-not-ready`
 */
export async function pinSecretSet(
  db: Database,
  scope: { readonly organizationId: string; readonly region: string },
  name: string,
): Promise<SecretPin> {
  const path = 'body.secretSet';
  const set = await findSet(db, scope.organizationId, name, 'share');
  if (set === undefined) {
    const message = 'There is no secret set of this name.';
    throw failure('secret-set-not-found', { message, issues: [{ path, message }] });
  }
  if (set.kind !== 'secret') {
    const message = 'This is an image pull secret, which bots cannot use. Name a secret set.';
    throw failure('secret-set-kind', { message, issues: [{ path, message }] });
  }
  if (set.region !== scope.region) {
    const message = `The secret set is in the region ${set.region}, and the agent in ${scope.region}.`;
    throw failure('secret-set-elsewhere', { message, issues: [{ path, message }] });
  }
  const delivery = await findDelivery(db, set.id, set.revision);
  if (delivery?.state !== 'ready') {
    const why =
      delivery?.state === 'failed'
        ? `it failed: ${shownProblem(delivery.error ?? '')}`
        : 'it is still pending. Try again';
    throw failure('secret-set-not-ready', { message: `The secret set is not ready, ${why}.`.replace(/\.\.$/, '.') });
  }
  return { secretSet: set.name, setId: set.id, revision: set.revision };
}

/**
 * For a deployment that is to run with what an earlier one was pinned to. Call it in the transaction that makes it.
 *
 * @throws failure `deployment-gone` where a set was deleted, or its revision is not kept any more; `secret-set-damaged`
 * where the earlier one is not pinned to what it was made with
 */
export async function requirePins(context: Context, earlier: PinnedDeployment): Promise<void> {
  if (!(await arePinsWhole(context, earlier))) throw failure('secret-set-damaged', { message: pinsChanged });
  const { db } = context;
  for (const { secretSet, setId, revision } of earlier.pins) {
    const isThere = (await findSetById(db, earlier.organizationId, setId, 'share')) !== undefined;
    if (isThere && (await findRevision(db, setId, revision)) !== undefined) continue;
    const why = isThere ? `revision ${revision} of it is no longer stored` : 'it was deleted';
    const message = `This deployment ran with the secret set ${secretSet}, and ${why}. Deploy with the current set instead.`;
    throw failure('deployment-gone', { message });
  }
}

/** Whether a deployment is pinned to what it was made with. */
export async function arePinsWhole(context: Context, deployment: PinnedDeployment): Promise<boolean> {
  try {
    await requireStampedPins(context, deployment);
    return true;
  } catch (error) {
    if (isDamage(error)) return false;
    throw error;
  }
}

/** Names no set: that name may be another one, too. */
export const pinsChanged =
  'The secret set of this deployment was changed in the database, so it is not used. Deploy the agent again, and name its secret set.';

/** For each list of pins how far it is behind the sets of now. */
export async function pinStates(
  db: Database,
  organizationId: string,
  pins: readonly (readonly SecretPin[])[],
): Promise<PinnedSecretSet[][]> {
  const ids = [...new Set(pins.flat().map(({ setId }) => setId))].filter(isUuid);
  const newest = await newestRevisions(db, organizationId, ids);
  const stateOf = ({ secretSet, setId, revision }: SecretPin): PinnedSecretSet => {
    const newestRevision = newest.get(setId) ?? null;
    return { secretSet, revision, newestRevision, stale: newestRevision !== revision };
  };
  return pins.map((list) => list.map(stateOf));
}

/**
 * What a deployment is pinned to is not there (any more), or not as it was written. The message is for the agent's owner.
 * `lasting`: only another deployment helps, and trying again does not.
 */
export class SecretsUnavailable extends Error {
  override readonly name = 'SecretsUnavailable';
  readonly lasting: boolean;
  constructor(message: string, lasting: boolean, options?: ErrorOptions) {
    super(message, options);
    this.lasting = lasting;
  }
}

/**
 * The variables of the sets that a deployment is pinned to, as it was made: for the start of an instance, and nothing else.
 * Empty values do not exist, so each of them is one that the bot can read.
 *
 * @throws SecretsUnavailable
 */
export function openForDeployment(context: Context, deployment: PinnedDeployment): Promise<Record<string, string>> {
  const lock = lockIn(context.db);
  return inSnapshot(context.db, async (db) => {
    const reading = { db, keyring: lookedUpOnce(context.keyring) };
    try {
      await requireStampedPins(reading, deployment);
    } catch (error) {
      throw unavailable(error, pinsChanged, 'The secret set of this deployment');
    }
    const { organizationId, region, pins } = deployment;
    return openSets(reading, { organizationId, region, lock }, pins);
  });
}

/** The variables of sets at these revisions, whoever says so. @throws SecretsUnavailable */
export function openPinned(
  context: Context,
  organizationId: string,
  pins: readonly SecretPin[],
): Promise<Record<string, string>> {
  const lock = lockIn(context.db);
  return inSnapshot(context.db, (db) => openSets({ ...context, db }, { organizationId, region: null, lock }, pins));
}

/** `region`: where they have to be; null: anywhere. */
type SetsOf = { readonly organizationId: string; readonly region: string | null; readonly lock: 'share' | undefined };

/** In a transaction of others a write in between would look like damage. */
function lockIn(db: Database): 'share' | undefined {
  return db.isTransaction ? 'share' : undefined;
}

async function openSets(context: Context, of: SetsOf, pins: readonly SecretPin[]): Promise<Record<string, string>> {
  const variables: [string, string][] = [];
  for (const pin of pins) {
    try {
      for (const [key, value] of await openPin(context, of, pin)) {
        variables.push([key, value.toString('utf8')]);
        value.fill(0);
      }
    } catch (error) {
      throw unavailable(error, damaged(pin.secretSet), theSet(pin.secretSet));
    }
  }
  return Object.fromEntries(variables);
}

const theSet = (name: string): string => `The secret set ${name}`;
const damaged = (name: string): string =>
  `${theSet(name)} is damaged, so nothing of it is used. Delete it, set it again and deploy; the operator finds in the log of the service what is damaged.`;

function unavailable(error: unknown, damage: string, what: string): unknown {
  if (isDamage(error)) return new SecretsUnavailable(damage, true, { cause: error });
  if (error instanceof RootKeyMissing) {
    const message = `${what} cannot be opened: the operator of the service has to put a root key back.`;
    return new SecretsUnavailable(message, false, { cause: error });
  }
  return error;
}

async function openPin(
  context: Context,
  { organizationId, region, lock }: SetsOf,
  { secretSet, setId, revision }: SecretPin,
): Promise<Map<string, Buffer>> {
  const set = await findSetById(context.db, organizationId, setId, lock);
  if (set === undefined) {
    const message = `${theSet(secretSet)} was deleted. Set it again and deploy, or deploy without it.`;
    throw new SecretsUnavailable(message, true);
  }
  // A set keeps all three for good, so they are what they were when it was pinned.
  if (set.kind !== 'secret' || set.name !== secretSet || (region !== null && set.region !== region)) {
    throw new DamagedError('the set is of another name, kind or region than the one that was pinned');
  }
  return openValues(context, set, revision);
}
