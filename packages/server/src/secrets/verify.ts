import { type CheckedPullSecret, failure } from '@bothost/contract';
import { appendAudit } from '../audit/append.ts';
import type { Database } from '../store/tables.ts';
import { type CheckRow, keepCheck } from './check-rows.ts';
import { openValues } from './open-set.ts';
import { readSet, tellDamage } from './read-set.ts';
import { checkCredentials, type RegistryWorld } from './registry/check-credentials.ts';
import { credentialsKey, credentialsOf } from './registry/docker-configuration.ts';
import { type ImageReference, imageReference } from './registry/image-reference.ts';
import type { Verdict } from './registry/verdict.ts';
import { findSet } from './rows.ts';
import { inSnapshot } from './snapshot.ts';
import { stampedCheck } from './stamped-check.ts';
import type { Keyring } from './vault/keyring.ts';
import type { WriteScope } from './write.ts';

type Context = {
  readonly db: Database;
  readonly now: () => Date;
  readonly keyring: Keyring;
  readonly registries: RegistryWorld;
};

/**
 * Asks the registry of an image pull secret whether it takes the credentials, and keeps the answer with the revision that
 * was asked about. Readiness stays as it is: who has no way to the registry from here is held up by nothing.
 *
 * @throws failure `secret-set-not-found`, `secret-set-no-registry`, `secret-set-damaged`, `invalid-request`
 */
export async function verifyImagePullSecret(
  context: Context,
  scope: WriteScope,
  name: string,
  wantedImage: string | null,
): Promise<CheckedPullSecret> {
  const { set, host, expiresAt, credentials } = await open(context, scope, name);
  const { image, verdict } = await check(context.registries, host, credentials, wantedImage);
  const row = {
    set_id: set.id,
    revision: set.revision,
    ...verdict,
    image: image?.shown ?? null,
    checked_at: context.now(),
  };
  await context.db.transaction().execute(async (db) => {
    // Nothing was held meanwhile: the set, or this revision of it, may be gone.
    const now = await findSet(db, scope.organizationId, name, 'share');
    if (now?.id !== set.id || !now.revisions.includes(set.revision)) throw failure('secret-set-not-found');
    const key = await context.keyring.current(db, scope.organizationId, 'stamp');
    await keepCheck(db, stampedCheck(key, row));
    await appendAudit(db, scope.organizationId, eventOf(scope, set, row.checked_at, verdict));
  });
  return {
    status: 'OK',
    name: set.name,
    host,
    revision: set.revision,
    expiresAt: expiresAt?.toISOString() ?? null,
    verification: shownCheck(row),
  };
}

/** As the API shows it. */
export function shownCheck(row: Pick<CheckRow, 'result' | 'message' | 'image' | 'checked_at'>) {
  const { result, message, image } = row;
  return { result, message, image, checkedAt: row.checked_at.toISOString() };
}

function open(context: Context, scope: WriteScope, name: string) {
  return inSnapshot(context.db, async (db) => {
    const set = await findSet(db, scope.organizationId, name);
    if (set === undefined) throw failure('secret-set-not-found');
    const { host, expiresAt } = await readSet({ ...context, db }, set);
    if (set.kind !== 'imagePullSecret' || host === null) throw failure('secret-set-no-registry');
    const values = await tellDamage(() => openValues({ ...context, db }, set, set.revision));
    const configuration = values.get(credentialsKey);
    if (configuration === undefined) throw failure('secret-set-damaged');
    const credentials = credentialsOf(configuration, host);
    configuration.fill(0);
    return { set, host, expiresAt, credentials };
  });
}

/** Overwrites the credentials, whatever comes of it. */
async function check(registries: RegistryWorld, host: string, credentials: Buffer, wantedImage: string | null) {
  try {
    const image = wantedImage === null ? null : requireImage(wantedImage, host);
    return { image, verdict: await checkCredentials(registries, host, credentials, image) };
  } finally {
    credentials.fill(0);
  }
}

function requireImage(text: string, host: string): ImageReference {
  const image = imageReference(text, host);
  if (!('problem' in image)) return image;
  const message = `This is no image of the registry: ${image.problem}.`;
  throw failure('invalid-request', { message, issues: [{ path: 'body.image', message }] });
}

function eventOf(
  scope: WriteScope,
  set: { name: string; region: string; revision: number },
  at: Date,
  verdict: Verdict,
) {
  return {
    at,
    actor: scope,
    action: 'secrets.verify',
    object: set.name,
    region: set.region,
    keys: [],
    revisionBefore: set.revision,
    revisionAfter: set.revision,
    result: verdict.result,
  };
}
