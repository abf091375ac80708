import { lockUsableBuild } from '../builds/find.ts';
import type { Database, DeploymentCodeSource } from '../store/tables.ts';

export type DeployableBuild = {
  readonly source: Extract<DeploymentCodeSource, { kind: 'build' }>;
  readonly prepared: Readonly<Record<string, string | number | boolean | null>>;
};

/**
 * Reads a successful build and locks its row until the transaction ends. Null if the region has no successful build
 * with this id.
 */
export async function findDeployableBuild(
  context: { db: Database; now: () => Date },
  scope: { readonly organizationId: string; readonly region: string },
  buildId: string,
): Promise<DeployableBuild | null> {
  const build = await lockUsableBuild(context, scope, buildId);
  if (build === null) return null;
  const { id, content_hash: contentHash, prepared } = build;
  return { source: { kind: 'build', buildId: id, contentHash }, prepared };
}
