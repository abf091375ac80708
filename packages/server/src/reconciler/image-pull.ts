import { createTimeout, type ImageErrorCode, type ImageReference, parseImageReference } from '@bothost/contract';
import {
  type ImageLayerProgress,
  type PreparedProject,
  ProjectPreparationError,
  type RegistryCredentialsProvider,
  type Runtime,
} from '@bothost/runtime';
import { type DeploymentToReconcile, recordImageProgress } from '../agents/deployment-state.ts';
import { PullSecretError, readRegistryCredentials } from '../secrets/pull-secret.ts';
import { findRegistryRefusal } from '../secrets/registry/allowed-registry.ts';
import type { ImageRegistryConnectionOptions } from '../secrets/registry/check-credentials.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import type { StoreContext } from '../store/store-context.ts';

type Context = Pick<StoreContext, 'db' | 'logger'> & {
  readonly keyring: Keyring;
  readonly runtime: Pick<Runtime, 'prepare'>;
  readonly registries: Pick<ImageRegistryConnectionOptions, 'policy' | 'resolve'>;
  readonly closing: AbortSignal;
};

/** Time for the pull of an image while its deployment is validated. */
const pullTimeoutMs = 15 * 60_000;
const progressIntervalMs = 1_000;

/**
 * Pulls the image of a deployment with the newest revision of its image pull secret. Once the digest of a deployment is known,
 * only that digest is pulled.
 *
 * @throws ProjectPreparationError if a later attempt would fail again
 */
export async function pullImage(context: Context, row: DeploymentToReconcile): Promise<PreparedProject> {
  const image = requireImage(row);
  const refusal = await findRegistryRefusal(context.registries, image.registry);
  if (refusal !== null) throw failure('PCC_IMAGE_PULL_UNKNOWN_ERROR', refusal);
  const credentials = createCredentialsProvider(context, row);
  // A missing or damaged secret is reported as such, and not as a failure of the runtime driver.
  await credentials();
  const timeout = createTimeout(pullTimeoutMs);
  const reference = row.image_digest === null ? image.text : `${image.name}@${row.image_digest}`;
  const source = { kind: 'image', reference, organizationId: row.organization_id } as const;
  const output = (line: string) => context.logger.debug({ deploymentId: row.id, agent: row.agent_name }, line);
  const onProgress = createProgressWriter((layers) => recordImageProgress(context.db, row.id, layers));
  const spec = { id: row.id, source, credentials, onProgress };
  try {
    return await context.runtime.prepare(spec, output, AbortSignal.any([timeout, context.closing]));
  } catch (error) {
    if (!timeout.aborted) throw error;
    throw failure(
      'PCC_IMAGE_PULL_UNKNOWN_ERROR',
      `The pull took longer than ${pullTimeoutMs / 60_000} minutes.`,
      error,
    );
  }
}

/** The credentials for the image of a deployment, in the newest revision of its image pull secret. */
export function createCredentialsProvider(
  context: Pick<Context, 'db' | 'keyring'>,
  row: DeploymentToReconcile,
): RegistryCredentialsProvider {
  const { organization_id: organizationId, region, image_pull_secret: name } = row;
  return async () => {
    if (name === null) return null;
    return readRegistryCredentials(context, { organizationId, region }, name, requireImage(row)).catch((error) => {
      if (!(error instanceof PullSecretError)) throw error;
      throw failure('PCC_IMAGE_PULL_UNAUTHORIZED', error.message, error);
    });
  };
}

function requireImage({ source }: DeploymentToReconcile): ImageReference {
  const image = parseImageReference(source.kind === 'image' ? source.reference : '');
  if ('problem' in image) throw new Error(`The stored image reference is not valid: ${image.problem}`);
  return image;
}

function failure(imageCode: ImageErrorCode, message: string, cause?: unknown): ProjectPreparationError {
  return new ProjectPreparationError(message, { imageCode, cause });
}

/** Writes at most one report at a time and per interval, and drops the others. A failed write is dropped, too. */
function createProgressWriter(
  write: (layers: readonly ImageLayerProgress[]) => Promise<void>,
): (layers: readonly ImageLayerProgress[]) => void {
  let isWriting = false;
  let lastAtMs = Number.NEGATIVE_INFINITY;
  return (layers) => {
    const atMs = performance.now();
    if (isWriting || atMs - lastAtMs < progressIntervalMs) return;
    isWriting = true;
    lastAtMs = atMs;
    void write(layers)
      .catch(() => undefined)
      .finally(() => {
        isWriting = false;
      });
  };
}
