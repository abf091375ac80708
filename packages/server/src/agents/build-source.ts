import { useBuild } from '../builds/find.ts';
import type { Database, DeploymentSource } from '../store/tables.ts';

export type BuildSource = {
  readonly source: Extract<DeploymentSource, { kind: 'build' }>;
  readonly prepared: Readonly<Record<string, string | number | boolean | null>>;
};

/**
 * A successful build as the source of a deployment. It cannot be removed until the transaction ends. Null if the build
 * does not exist in the organization and region.
 */
export async function sourceOfBuild(
  context: { db: Database; now: () => Date },
  scope: { readonly organizationId: string; readonly region: string },
  buildId: string,
): Promise<BuildSource | null> {
  const build = await useBuild(context, scope, buildId);
  if (build === null) return null;
  const { id, content_hash: contentHash, prepared } = build;
  return { source: { kind: 'build', buildId: id, contentHash }, prepared };
}
