import { useBuild } from '../builds/find.ts';
import type { Database, DeploymentSource } from '../store/tables.ts';

export type BuildSource = {
  readonly source: Extract<DeploymentSource, { kind: 'build' }>;
  readonly prepared: Readonly<Record<string, string | number | boolean | null>>;
};

/**
 * A build as the source of a deployment: its preparation is done, and it is kept from being removed until the transaction
 * ends. Null when there is none of this organization and region that succeeded.
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
