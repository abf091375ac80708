import type { Database, DeploymentSource } from '../store/tables.ts';

export type BuildSource = {
  readonly source: Extract<DeploymentSource, { kind: 'build' }>;
  readonly prepared: Readonly<Record<string, string | number | boolean | null>>;
};

/**
 * A build as the source of a deployment, kept from being removed until the transaction ends. Null when there is none of
 * this organization and region that succeeded.
 */
export async function sourceOfBuild(
  context: { db: Database; now: () => Date },
  scope: { readonly organizationId: string; readonly region: string },
  buildId: string,
): Promise<BuildSource | null> {
  const build = await context.db
    .updateTable('builds')
    .set({ used_at: context.now() })
    .where('id', '=', buildId)
    .where('organization_id', '=', scope.organizationId)
    .where('region', '=', scope.region)
    .where('state', '=', 'success')
    .where('removing', '=', false)
    .returning(['id', 'content_hash', 'prepared'])
    .executeTakeFirst();
  if (build === undefined || build.prepared === null) return null;
  return {
    source: { kind: 'build', buildId: build.id, contentHash: build.content_hash },
    prepared: build.prepared,
  };
}
