import { failure, type PinnedSecretSet } from '@bothost/contract';
import type { Database, SecretPin } from '../store/tables.ts';
import { findDelivery } from './delivery-rows.ts';
import { openValues } from './open-set.ts';
import { findRevision, findSet, findSetById, newestRevisions } from './rows.ts';
import { inSnapshot } from './snapshot.ts';
import { DamagedError } from './vault/damaged.ts';
import type { Keyring } from './vault/keyring.ts';
import { RootKeyMissing } from './vault/root-key.ts';

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
    const message = 'This is an image pull secret, which bots do not get. Name a secret set.';
    throw failure('secret-set-kind', { message, issues: [{ path, message }] });
  }
  if (set.region !== scope.region) {
    const message = `The secret set is in the region ${set.region}, and the agent in ${scope.region}.`;
    throw failure('secret-set-elsewhere', { message, issues: [{ path, message }] });
  }
  const delivery = await findDelivery(db, set.id, set.revision);
  if (delivery?.state !== 'ready') {
    const why = delivery?.state === 'failed' ? `it failed: ${delivery.error ?? ''}` : 'it is still pending. Try again';
    throw failure('secret-set-not-ready', { message: `The secret set is not ready, ${why}.`.replace(/\.\.$/, '.') });
  }
  return { secretSet: set.name, setId: set.id, revision: set.revision };
}

/**
 * For a deployment that is to run with what an earlier one was pinned to. Call it in the transaction that makes it.
 *
 * @throws failure `deployment-gone` where a set was deleted, or its revision is not kept any more
 */
export async function requirePins(db: Database, organizationId: string, pins: readonly SecretPin[]): Promise<void> {
  for (const { secretSet, setId, revision } of pins) {
    const isThere = (await findSetById(db, organizationId, setId, 'share')) !== undefined;
    if (isThere && (await findRevision(db, setId, revision)) !== undefined) continue;
    const why = isThere ? `revision ${revision} of it is not kept any more` : 'it was deleted';
    const message = `This deployment ran with the secret set ${secretSet}, and ${why}. Deploy with the set of now instead.`;
    throw failure('deployment-gone', { message });
  }
}

/** For each list of pins how far it is behind the sets of now. */
export async function pinStates(
  db: Database,
  organizationId: string,
  pins: readonly (readonly SecretPin[])[],
): Promise<PinnedSecretSet[][]> {
  const ids = [...new Set(pins.flat().map(({ setId }) => setId))];
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
 * The variables of the sets that a deployment is pinned to: for the start of an instance, and nothing else. Empty values do
 * not exist, so each of them is one that the bot can read.
 *
 * @throws SecretsUnavailable
 */
export async function openPinned(
  context: { readonly db: Database; readonly keyring: Keyring },
  organizationId: string,
  pins: readonly SecretPin[],
): Promise<Record<string, string>> {
  const variables: [string, string][] = [];
  for (const pin of pins) {
    try {
      for (const [key, value] of await openPin(context, organizationId, pin)) {
        variables.push([key, value.toString('utf8')]);
        value.fill(0);
      }
    } catch (error) {
      throw unavailable(error, pin.secretSet);
    }
  }
  return Object.fromEntries(variables);
}

const theSet = (name: string): string => `The secret set ${name}`;

function unavailable(error: unknown, name: string): unknown {
  if (error instanceof DamagedError) {
    const message = `${theSet(name)} is damaged, so nothing of it is used. Delete it, set it again and deploy; the operator finds in the log of the service what is damaged.`;
    return new SecretsUnavailable(message, true, { cause: error });
  }
  if (error instanceof RootKeyMissing) {
    const message = `${theSet(name)} cannot be opened: the operator of the service has to put a root key back.`;
    return new SecretsUnavailable(message, false, { cause: error });
  }
  return error;
}

function openPin(
  context: { readonly db: Database; readonly keyring: Keyring },
  organizationId: string,
  pin: SecretPin,
): Promise<Map<string, Buffer>> {
  // In a transaction of others a write in between would look like damage.
  const lock = context.db.isTransaction ? 'share' : undefined;
  return inSnapshot(context.db, async (db) => {
    const set = await findSetById(db, organizationId, pin.setId, lock);
    if (set === undefined)
      throw new SecretsUnavailable(
        `${theSet(pin.secretSet)} was deleted. Set it again and deploy, or deploy without it.`,
        true,
      );
    return openValues({ ...context, db }, set, pin.revision);
  });
}
