import { sql } from 'kysely';
import type { Database } from '../store/tables.ts';
import { type AcceptingRegion, findSourceProblem } from './source-problem.ts';

/**
 * Records at the start of the server which serving deployments cannot run any more, so that their owners see it before a session
 * fails. Clears the problem of serving deployments that can run again.
 */
export async function recordSourceProblems(
  { db, now }: { readonly db: Database; readonly now: () => Date },
  host: AcceptingRegion,
): Promise<void> {
  await sql`update deployments set error = null, error_code = null, error_at = null
    from agents where agents.id = deployments.agent_id and agents.region = ${host.region}
      and deployments.error_code = 'PCC_SOURCE_NOT_ACCEPTED' and deployments.state = 'ready'
      and (deployments.source->>'kind' = 'image') = ${host.accepts === 'image'}`.execute(db);
  const agents = await db
    .selectFrom('agents')
    .innerJoin('deployments', 'deployments.id', 'agents.active_deployment_id')
    .select(['agents.name', 'deployments.id', 'deployments.source'])
    .where('agents.region', '=', host.region)
    .where('agents.deleted_at', 'is', null)
    .execute();
  for (const { name, id, source } of agents) {
    const problem = findSourceProblem(host, name, source);
    if (problem === null) continue;
    const { message: error, code: error_code } = problem;
    await db.updateTable('deployments').set({ error, error_code, error_at: now() }).where('id', '=', id).execute();
  }
}
