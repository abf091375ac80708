import {
  type AgentSettings,
  createApiError,
  createFieldError,
  type DeploySource,
  type ImageReference,
  parseImageReference,
} from '@bothost/contract';
import { requireImagePullSecret } from '../secrets/pull-secret.ts';
import type { Database } from '../store/tables.ts';
import { type DeploymentCode, findDeployableBuild } from './create-deployment.ts';
import type { DeploymentRow } from './deployment-rows.ts';

type Context = { readonly db: Database; readonly now: () => Date };
export type RegionScope = { readonly organizationId: string; readonly region: string };
type Request = Pick<AgentSettings, 'buildId' | 'image' | 'imagePullSecretSet' | 'forceRedeploy'>;

/** Asks the registry which digest an image has now. Null if the registry does not say. */
export type FindImageDigest = (
  scope: RegionScope,
  pullSecret: string | null,
  image: ImageReference,
) => Promise<string | null>;

/**
 * The code of an agent's first deployment.
 *
 * @throws failure `invalid-request`, `build-not-usable`, the failures of `requireImagePullSecret`
 */
export async function findRequestedCode(
  context: Context,
  scope: RegionScope,
  accepts: DeploySource,
  request: Request,
): Promise<DeploymentCode> {
  if (accepts === 'image') {
    const image = imageOf(request.image);
    if (image === null)
      throw createFieldError('body.image', 'Name the image to deploy as image, such as ghcr.io/team/my-bot:1.4.');
    return imageCode(context, scope, image, { digest: null, pullSecret: request.imagePullSecretSet ?? null });
  }
  if (typeof request.buildId !== 'string')
    throw createFieldError('body.buildId', 'Name the build to deploy as buildId.');
  return requireBuild(context, scope, request.buildId);
}

/**
 * The code of a further deployment. If the request names no code, the code of the previous deployment: the same build, or the
 * same digest of the image.
 *
 * @throws failure `invalid-request`, `build-not-usable`, the failures of `requireImagePullSecret`
 */
export async function findNextCode(
  context: Context,
  scope: RegionScope,
  accepts: DeploySource,
  before: DeploymentRow,
  request: Request,
): Promise<DeploymentCode> {
  const { source } = before;
  const requested = accepts === 'image' ? request.image : request.buildId;
  if (typeof requested === 'string' || !canRepeat(source.kind, accepts)) {
    const kept = { ...request, imagePullSecretSet: pullSecretOf(before, request) };
    return findRequestedCode(context, scope, accepts, kept);
  }
  // A deployment from a directory has no build: its directory is copied again.
  if (source.kind === 'directory') return { source, prepared: null };
  if (source.kind === 'build') return requireBuild(context, scope, source.buildId);
  const image = imageOf(source.reference);
  if (image === null) throw new Error('The stored image reference is not valid.');
  const pullSecret = pullSecretOf(before, request);
  const code = await imageCode(context, scope, image, { digest: before.image_digest, pullSecret });
  return { ...code, prepared: pullSecret === before.image_pull_secret ? before.prepared : null };
}

/** Whether the code differs. A tag counts as other code if its digest differs now, or `digest` is unknown (null). */
export function isOtherCode(before: DeploymentRow, request: Request, digest: string | null): boolean {
  const { source } = before;
  if (typeof request.buildId === 'string') return request.buildId.toLowerCase() !== before.build_id;
  const image = imageOf(request.image);
  if (pullSecretOf(before, request) !== before.image_pull_secret) return true;
  if (image === null) return false;
  const isSameReference = source.kind === 'image' && source.reference === image.text;
  return !isSameReference || (image.digest === null && digest !== before.image_digest);
}

/** Asks the registry for the digest of the requested image, if the answer decides whether a deployment is needed. */
export async function findRequestedDigest(
  find: FindImageDigest,
  scope: RegionScope,
  before: DeploymentRow,
  request: Request,
): Promise<string | null> {
  const image = imageOf(request.image);
  const isUndecided =
    image !== null &&
    before.image_digest !== null &&
    isOtherCode(before, request, null) &&
    request.forceRedeploy !== true;
  return isUndecided && !isOtherCode(before, request, before.image_digest)
    ? find(scope, pullSecretOf(before, request), image)
    : null;
}

function canRepeat(kind: DeploymentRow['source']['kind'], accepts: DeploySource): boolean {
  return (kind === 'image') === (accepts === 'image');
}

/** Keeps the former pull secret unless the request has another name or null. Names of secret sets ignore case. */
function pullSecretOf(before: DeploymentRow, { imagePullSecretSet: requested }: Request): string | null {
  const former = before.image_pull_secret;
  if (requested === undefined) return former;
  return requested?.toLowerCase() === former?.toLowerCase() ? former : requested;
}

function imageOf(text: string | null | undefined): ImageReference | null {
  if (typeof text !== 'string') return null;
  const image = parseImageReference(text);
  return 'problem' in image ? null : image;
}

async function imageCode(
  { db }: Context,
  scope: RegionScope,
  image: ImageReference,
  { digest, pullSecret }: NonNullable<DeploymentCode['image']>,
): Promise<DeploymentCode> {
  const secret = pullSecret === null ? null : await requireImagePullSecret(db, scope, pullSecret, image);
  return {
    source: { kind: 'image', reference: image.text },
    prepared: null,
    image: { digest: image.digest ?? digest, pullSecret: secret },
  };
}

async function requireBuild(context: Context, scope: RegionScope, buildId: string): Promise<DeploymentCode> {
  const build = await findDeployableBuild(context, scope, buildId);
  if (build === null) throw createApiError('build-not-usable');
  return build;
}
