import type { DirectDatabaseConnection } from './direct-database-connection.ts';

/** How to search for each step of a deploy. The suite kills the server during each step. */
export const deploySearches = {
  upload: { event: 'upload', firstMs: 40, stepMs: 5, inspections: 20 },
  'create-build': { event: 'create-build', firstMs: 4, stepMs: 1, inspections: 20 },
  prepare: { event: 'create-build', firstMs: 20, stepMs: 5, inspections: 60 },
  'create-deployment': { event: 'create-deployment', firstMs: 4, stepMs: 1, inspections: 20 },
  validate: { event: 'create-deployment', firstMs: 120, stepMs: 10, inspections: 40 },
  activate: { event: 'create-deployment', firstMs: 20, stepMs: 1, inspections: 400 },
} as const;
export type DeployPhase = keyof typeof deploySearches;
export const deployPhases = Object.keys(deploySearches) as DeployPhase[];

/**
 * Returns the current step of a deploy, or nothing before the deploy begins and after it ends. Call this while the server is
 * suspended.
 */
export async function readDeployPhase(
  database: DirectDatabaseConnection,
  contentHash: string,
): Promise<readonly DeployPhase[]> {
  const [row] = await database.rows(
    `select u.state as upload, b.state as build, d.state as deployment,
      exists (select from instances i where i.deployment_id = d.id and i.state = 'ready') as is_ready,
      exists (select from instances i where i.agent_id = d.agent_id and i.deployment_id <> d.id
        and i.session_id is null and i.state <> 'ended') as is_draining
    from uploads u left join builds b on b.upload_id = u.id
    left join lateral (select * from deployments where build_id = b.id order by created_at desc limit 1) d on true
    where u.content_hash = $1 order by u.created_at desc, b.created_at desc limit 1`,
    [contentHash],
  );
  if (row === undefined) return [];
  if (row.build === null) return [row.upload === 'open' ? 'upload' : 'create-build'];
  if (row.build === 'pending') return ['create-build'];
  if (row.build === 'building') return ['prepare'];
  if (row.deployment === null) return ['create-deployment'];
  if (row.deployment === 'validating') return [row.is_ready ? 'activate' : 'validate'];
  return row.deployment === 'ready' && row.is_draining ? ['activate'] : [];
}

/** Finds rows that must not exist at any time, even after a kill. */
export async function findPartialDeploys(database: DirectDatabaseConnection): Promise<readonly string[]> {
  const found = await database.rows(`
    select 'the agent serves a deployment that never became ready: ' || a.name as problem
      from agents a join deployments d on d.id = a.active_deployment_id where d.state <> 'ready' or d.activated_at is null
    union all select 'an agent without a desired deployment: ' || name from agents where desired_deployment_id is null
    union all select 'a deployment in progress that is not the desired one: ' || d.id
      from deployments d join agents a on a.id = d.agent_id
      where d.state in ('preparing', 'validating') and a.desired_deployment_id <> d.id
    union all select 'a deployment of a build that did not succeed: ' || d.id
      from deployments d left join builds b on b.id = d.build_id where b.state is distinct from 'success'
    union all select 'a session on a deployment that never took traffic: ' || s.id
      from sessions s join deployments d on d.id = s.deployment_id where d.activated_at is null
    union all select 'two builds of one content: ' || content_hash from builds
      where state in ('pending', 'building', 'success') group by organization_id, region, content_hash having count(*) > 1`);
  return found.map(({ problem }) => problem);
}
