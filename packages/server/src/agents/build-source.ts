import { useBuild } from '../builds/find.ts';
import type { Database, DeploymentSource } from '../store/tables.ts';

export type BuildSource = {
  readonly source: Extract<DeploymentSource, { kind: 'build' }>;
  readonly prepared: Readonly<Record<string, string | number | boolean | null>>;
};

/**
 * Reads a successful build to deploy it, and locks its row so that the build cannot be removed before the transaction
 * ends. Null if the build does not exist in the organization and region, or the build did not succeed.
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
