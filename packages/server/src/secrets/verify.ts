import { createApiError, createFieldError, type ImagePullSecretVerification } from '@bothost/contract';
import type { Insertable, Selectable } from 'kysely';
import { appendAudit } from '../audit/append.ts';
import type { NewAuditEvent } from '../audit/chain.ts';
import { readSnapshot } from '../store/snapshot.ts';
import type { StoreContext } from '../store/store-context.ts';
import type { Database, PullSecretChecksTable } from '../store/tables.ts';
import { decryptRevision } from './encrypted-values.ts';
import { mapDamagedDataToFailure, readSecretSet } from './read-set.ts';
import { checkCredentials, type ImageRegistryConnectionOptions } from './registry/check-credentials.ts';
import { dockerConfigurationSecretKey, parseDockerCredentials } from './registry/docker-configuration.ts';
import { type ImageReference, parseImageReference } from './registry/image-reference.ts';
import type { CredentialVerdict } from './registry/verdict.ts';
import { findRevision, findSecretSet } from './rows.ts';
import type { Keyring } from './vault/keyring.ts';
import type { ActorInOrganization } from './write-transaction.ts';

type CheckRow = Selectable<PullSecretChecksTable>;
type Context = Pick<StoreContext, 'db' | 'now'> & {
  readonly keyring: Keyring;
  readonly registries: ImageRegistryConnectionOptions;
};

/**
 * Asks the registry of an image pull secret whether it accepts the credentials, and stores the result with the revision. The
 * readiness of the secret does not depend on the result, because the service may have no route to the registry.
 *
 * @throws failure `secret-set-not-found`, `secret-set-no-registry`, `secret-set-damaged`, `invalid-request`
 */
export async function verifyImagePullSecret(
  context: Context,
  actor: ActorInOrganization,
  name: string,
  imageText: string | null,
): Promise<ImagePullSecretVerification> {
  const { set, host, expiresAt, credentials } = await decryptCredentials(context, actor, name);
  const { image, verdict } = await check(context.registries, host, credentials, imageText);
  const row = {
    set_id: set.id,
    revision: set.revision,
    ...verdict,
    image: image?.shown ?? null,
    checked_at: context.now(),
  };
  await context.db.transaction().execute(async (db) => {
    // Check the set again: it was not locked during the request to the registry, so it or its revision may have been deleted.
    const now = await findSecretSet(db, actor.organizationId, name, 'share');
    const isStored = now?.id === set.id && (await findRevision(db, set.id, set.revision)) !== undefined;
    if (!isStored) throw createApiError('secret-set-not-found');
    await storeCheck(db, row);
    await appendAudit(db, actor.organizationId, eventOf(actor, set, row.checked_at, verdict));
  });
  return {
    status: 'OK',
    name: set.name,
    host,
    revision: set.revision,
    expiresAt: expiresAt?.toISOString() ?? null,
    verification: toPullSecretVerification(row),
  };
}

async function storeCheck(db: Database, row: Insertable<PullSecretChecksTable>): Promise<void> {
  const { set_id: _, revision: __, ...result } = row;
  await db
    .insertInto('pull_secret_checks')
    .values(row)
    .onConflict((conflict) => conflict.columns(['set_id', 'revision']).doUpdateSet(result))
    .execute();
}

export function toPullSecretVerification(row: Pick<CheckRow, 'result' | 'message' | 'image' | 'checked_at'>) {
  const { result, message, image } = row;
  return { result, message, image, checkedAt: row.checked_at.toISOString() };
}

function decryptCredentials(context: Context, actor: ActorInOrganization, name: string) {
  return readSnapshot(context.db, async (db) => {
    const set = await findSecretSet(db, actor.organizationId, name);
    if (set === undefined) throw createApiError('secret-set-not-found');
    const { host, expiresAt } = await readSecretSet({ ...context, db }, set);
    if (set.kind !== 'imagePullSecret' || host === null) throw createApiError('secret-set-no-registry');
    const values = await mapDamagedDataToFailure(() => decryptRevision({ ...context, db }, set, set.revision));
    const configuration = values.get(dockerConfigurationSecretKey);
    if (configuration === undefined) throw createApiError('secret-set-damaged');
    const credentials = parseDockerCredentials(configuration, host);
    configuration.fill(0);
    return { set, host, expiresAt, credentials };
  });
}

async function check(
  registries: ImageRegistryConnectionOptions,
  host: string,
  credentials: Buffer,
  imageText: string | null,
) {
  try {
    const image = imageText === null ? null : requireImage(imageText, host);
    return { image, verdict: await checkCredentials(registries, host, credentials, image) };
  } finally {
    credentials.fill(0);
  }
}

function requireImage(text: string, host: string): ImageReference {
  const image = parseImageReference(text, host);
  if (!('problem' in image)) return image;
  throw createFieldError('body.image', `The image is not in the secret's registry: ${image.problem}.`);
}

function eventOf(
  actor: ActorInOrganization,
  set: { name: string; region: string; revision: number },
  at: Date,
  verdict: CredentialVerdict,
): NewAuditEvent {
  return {
    at,
    actor,
    action: 'secrets.verify',
    object: set.name,
    region: set.region,
    keys: [],
    revisionBefore: set.revision,
    revisionAfter: set.revision,
    result: verdict.result,
  };
}
