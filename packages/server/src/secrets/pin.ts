import { createApiError, type PinnedSecretSet } from '@bothost/contract';
import { readSnapshot } from '../store/snapshot.ts';
import type { Database, SecretRevisionPin } from '../store/tables.ts';
import { decryptRevision } from './encrypted-values.ts';
import { requireReadySecretSet } from './ready-set.ts';
import { findNewestRevisions, findRevision, findSecretSetById } from './rows.ts';
import { DamagedDataError } from './vault/damaged-data-error.ts';
import { createCachingKeyring, type Keyring } from './vault/keyring.ts';
import { RootKeyMissingError } from './vault/root-key.ts';

type Context = { readonly db: Database; readonly keyring: Keyring };

/** The secret revisions that a deployment runs with. `region` is the region of its agent. */
export type PinnedSecrets = {
  readonly organizationId: string;
  readonly region: string;
  readonly pins: readonly SecretRevisionPin[];
};

/**
 * Pins the newest revision of a secret set for a deployment. Call this in the transaction that creates the deployment: it locks the
 * set against deletion.
 *
 * @throws the failures of `requireReadySecretSet`
 */
export async function pinSecretSetRevision(
  db: Database,
  scope: { readonly organizationId: string; readonly region: string },
  name: string,
): Promise<SecretRevisionPin> {
  const createCommand = `botcli cloud secrets set ${name} KEY=value --region ${scope.region}`;
  const set = await requireReadySecretSet(db, scope, 'secret', name, createCommand);
  return { secretSet: set.name, setId: set.id, revision: set.revision };
}

/**
 * Checks that the pinned revisions of an earlier deployment still exist, and locks their sets against deletion. Call this in the
 * transaction that creates the new deployment.
 *
 * @throws failure `deployment-unavailable` if a set was deleted or its revision is no longer stored
 */
export async function requireSecretRevisionsExist(
  db: Database,
  organizationId: string,
  pins: readonly SecretRevisionPin[],
): Promise<void> {
  for (const { secretSet, setId, revision } of pins) {
    const exists = (await findSecretSetById(db, organizationId, setId, 'share')) !== undefined;
    if (exists && (await findRevision(db, setId, revision)) !== undefined) continue;
    const why = exists ? `revision ${revision} of it is no longer stored` : 'it was deleted';
    const message = `This deployment ran with the secret set ${secretSet}, and ${why}. Deploy with the current set instead.`;
    throw createApiError('deployment-unavailable', { message });
  }
}

/** Each pin with its set's newest revision, or null if the set was deleted. `stale`: the pinned one is older. */
export async function listPinnedSecretSets(
  db: Database,
  organizationId: string,
  pins: readonly (readonly SecretRevisionPin[])[],
): Promise<PinnedSecretSet[][]> {
  const ids = [...new Set(pins.flat().map(({ setId }) => setId))];
  const newest = await findNewestRevisions(db, organizationId, ids);
  const stateOf = ({ secretSet, setId, revision }: SecretRevisionPin): PinnedSecretSet => {
    const newestRevision = newest.get(setId) ?? null;
    return { secretSet, revision, newestRevision, stale: newestRevision !== revision };
  };
  return pins.map((list) => list.map(stateOf));
}

/** Thrown if secrets cannot be decrypted. `lasting`: a retry cannot succeed, so the owner has to deploy again. */
export class SecretsUnavailableError extends Error {
  override readonly name = 'SecretsUnavailableError';
  readonly lasting: boolean;
  constructor(message: string, lasting: boolean, options?: ErrorOptions) {
    super(message, options);
    this.lasting = lasting;
  }
}

/**
 * Decrypts the environment variables of a deployment when an instance starts. Values are never empty.
 *
 * @throws SecretsUnavailableError
 */
export function decryptForDeployment(
  context: Context,
  { organizationId, region, pins }: PinnedSecrets,
): Promise<Record<string, string>> {
  // Lock the set if the caller is in a transaction. The statements of that transaction do not share a snapshot, so without the
  // lock a concurrent write would look like damage.
  const lock = context.db.isTransaction ? 'share' : undefined;
  return readSnapshot(context.db, async (db) => {
    const reading = { db, keyring: createCachingKeyring(context.keyring) };
    const variables: [string, string][] = [];
    for (const pin of pins) {
      for (const [key, value] of await decryptPin(reading, { organizationId, region, lock }, pin)) {
        variables.push([key, value.toString('utf8')]);
        value.fill(0);
      }
    }
    return Object.fromEntries(variables);
  });
}

async function decryptPin(
  context: Context,
  of: { readonly organizationId: string; readonly region: string; readonly lock: 'share' | undefined },
  { secretSet, setId, revision }: SecretRevisionPin,
): Promise<Map<string, Buffer>> {
  const set = await findSecretSetById(context.db, of.organizationId, setId, of.lock);
  if (set === undefined) {
    const message = `The secret set ${secretSet} was deleted. Set it again and deploy, or deploy without it.`;
    throw new SecretsUnavailableError(message, true);
  }
  if ((await findRevision(context.db, setId, revision)) === undefined) {
    const message = `Revision ${revision} of the secret set ${secretSet} is not stored, for example because an older backup was restored. Deploy the agent again with the current revision.`;
    throw new SecretsUnavailableError(message, true);
  }
  try {
    if (set.kind !== 'secret' || set.region !== of.region)
      throw new DamagedDataError('the kind or the region of the secret set was changed in the database');
    return await decryptRevision(context, set, revision);
  } catch (error) {
    if (error instanceof DamagedDataError) {
      const message = `The secret set ${secretSet} is damaged and not used. Delete it, set it again and deploy; the operator can find the cause in the log of the service.`;
      throw new SecretsUnavailableError(message, true, { cause: error });
    }
    if (error instanceof RootKeyMissingError) {
      const message = `The secret set ${secretSet} cannot be decrypted: the operator of the service has to put a root key back.`;
      throw new SecretsUnavailableError(message, false, { cause: error });
    }
    throw error;
  }
}
