import { createApiError, createFieldError, type ImageReference } from '@bothost/contract';
import { readSnapshot } from '../store/snapshot.ts';
import type { Database } from '../store/tables.ts';
import { decryptRevision } from './encrypted-values.ts';
import { readSecretSet } from './read-set.ts';
import { requireReadySecretSet } from './ready-set.ts';
import { findImageDigest, type ImageRegistryConnectionOptions } from './registry/check-credentials.ts';
import { dockerConfigurationSecretKey, parseDockerCredentials } from './registry/docker-configuration.ts';
import { createRegistryUrl } from './registry/registry-policy.ts';
import { findRevision, findSecretSet } from './rows.ts';
import type { Keyring } from './vault/keyring.ts';

type Scope = { readonly organizationId: string; readonly region: string };

/**
 * Checks that an image pull secret can be used for an image, and locks it against deletion. Returns its name. Call this in the
 * transaction that creates the deployment.
 *
 * @throws the failures of `requireReadySecretSet`, and failure `invalid-request` if its credentials are for another registry
 */
export async function requireImagePullSecret(
  db: Database,
  scope: Scope,
  name: string,
  image: ImageReference,
): Promise<string> {
  const set = await requireReadySecretSet(db, scope, 'imagePullSecret', name, createCommand(name, image));
  const host = (await findRevision(db, set.id, set.revision))?.host ?? '';
  if (!isForImage(host, image)) {
    const message = `The image pull secret ${set.name} is for ${host}, and the image is in ${image.name}. ${howToCreate('NAME', image)}`;
    throw createFieldError('body.imagePullSecretSet', message);
  }
  return set.name;
}

/** Thrown if the credentials of an image pull secret cannot be used. The message is for the agent's owner. */
export class PullSecretError extends Error {
  override readonly name = 'PullSecretError';
}

/**
 * Decrypts the credentials for an image, in the newest revision of an image pull secret.
 *
 * @throws PullSecretError, or failure `secret-set-damaged`
 */
export function readRegistryCredentials(
  context: { readonly db: Database; readonly keyring: Keyring },
  scope: Scope,
  name: string,
  image: ImageReference,
): Promise<{ readonly registry: string; readonly username: string; readonly password: string }> {
  return readSnapshot(context.db, async (db) => {
    const set = await findSecretSet(db, scope.organizationId, name);
    if (set?.kind !== 'imagePullSecret' || set.region !== scope.region) {
      throw new PullSecretError(`The image pull secret ${name} was deleted. ${howToCreate(name, image)}`);
    }
    // Read the host with its MAC: somebody who can write to the database must not send the credentials to another registry.
    const { host } = await readSecretSet({ ...context, db }, set);
    if (host === null || !isForImage(host, image)) {
      throw new PullSecretError(
        `The image pull secret ${name} is now for another registry. ${howToCreate('NAME', image)}`,
      );
    }
    const values = await decryptRevision({ ...context, db }, set, set.revision);
    const configuration = values.get(dockerConfigurationSecretKey);
    if (configuration === undefined) throw createApiError('secret-set-damaged');
    const credentials = parseDockerCredentials(configuration, host);
    configuration.fill(0);
    const text = credentials.toString('utf8');
    credentials.fill(0);
    const colon = text.indexOf(':');
    return { registry: image.registry, username: text.slice(0, colon), password: text.slice(colon + 1) };
  });
}

/** The digest that an image has now, read with the credentials of its pull secret. Null if the registry does not say. */
export async function findCurrentImageDigest(
  context: {
    readonly db: Database;
    readonly keyring: Keyring;
    readonly registries: ImageRegistryConnectionOptions;
  },
  scope: Scope,
  pullSecret: string | null,
  image: ImageReference,
): Promise<string | null> {
  const { repository, tag, digest, text } = image;
  const target = { repository, reference: digest ?? tag ?? 'latest', shown: text };
  if (pullSecret === null) return findImageDigest(context.registries, image.registry, target, null);
  const found = await readRegistryCredentials(context, scope, pullSecret, image).catch(() => null);
  if (found === null) return null;
  const credentials = Buffer.from(`${found.username}:${found.password}`);
  return findImageDigest(context.registries, image.registry, target, credentials).finally(() => credentials.fill(0));
}

export function formatRegistry(image: ImageReference): string {
  return image.name.slice(0, image.name.indexOf('/'));
}

function howToCreate(name: string, image: ImageReference): string {
  return `Create it with "${createCommand(name, image)}".`;
}

function createCommand(name: string, image: ImageReference): string {
  return `botcli cloud secrets image-pull-secret ${name} ${formatRegistry(image)}`;
}

/** Whether credentials for the registry `host`, which may have a path, are for the image. The scheme does not matter. */
function isForImage(host: string, image: ImageReference): boolean {
  const url = createRegistryUrl(host);
  const own = createRegistryUrl(image.registry);
  const prefix = url.pathname.split('/').filter((part) => part !== '');
  const path = image.repository.split('/');
  return url.hostname === own.hostname && url.port === own.port && prefix.every((part, index) => path[index] === part);
}
