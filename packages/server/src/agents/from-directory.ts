import { realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Database } from '../store/tables.ts';
import { type DeployFile, DeployFileError, readDeployFile } from './deploy-file.ts';
import { findDeployment, insertDeployment, requireAgent, updateAgent } from './rows.ts';

type Context = {
  db: Database;
  now: () => Date;
  newId: () => string;
  hashDirectory: (path: string) => Promise<string>;
};

export type DirectoryAgent = {
  readonly name: string;
  readonly deploymentId: string;
  readonly changed: boolean;
  /** It can be started already. */
  readonly prepared: boolean;
};

/**
 * Serves a directory as an agent: a new deployment when its content or its `deploy.toml` changed since the last start of
 * the service (decisions, "agents from directories"). The deployment is made startable by the reconciler.
 *
 * @throws DeployFileError, or the file system's error when the directory cannot be read
 */
export async function agentFromDirectory(
  context: Context,
  organizationId: string,
  region: string,
  path: string,
): Promise<DirectoryAgent> {
  const directory = await realpath(path);
  const file = await readDeployFile(directory, basename(directory));
  const contentHash = await context.hashDirectory(directory);
  return context.db.transaction().execute(async (db) => {
    const agent = await requireAgent(db, agentRow(context, organizationId, region, file.agent_name));
    if (agent.region !== region) {
      throw new DeployFileError(
        `${directory}: the agent ${agent.name} lives in region ${agent.region}, not in ${region}`,
      );
    }
    const desired =
      agent.desired_deployment_id === null ? undefined : await findDeployment(db, agent.desired_deployment_id);
    if (desired !== undefined && desired.state !== 'failed' && desired.source.contentHash === contentHash) {
      return { name: agent.name, deploymentId: desired.id, changed: false, prepared: desired.state === 'ready' };
    }
    const deploymentId = context.newId();
    await insertDeployment(db, deploymentRow(context, deploymentId, agent.id, { path: directory, contentHash }, file));
    await updateAgent(db, agent.id, { desired_deployment_id: deploymentId, updated_at: context.now() });
    return { name: agent.name, deploymentId, changed: true, prepared: false };
  });
}

function agentRow(context: Pick<Context, 'now' | 'newId'>, organizationId: string, region: string, name: string) {
  const now = context.now();
  return {
    id: context.newId(),
    organization_id: organizationId,
    name,
    region,
    created_at: now,
    updated_at: now,
  };
}

function deploymentRow(
  context: Pick<Context, 'now'>,
  id: string,
  agentId: string,
  source: { path: string; contentHash: string },
  file: DeployFile,
) {
  const now = context.now();
  return {
    id,
    agent_id: agentId,
    source: JSON.stringify({ kind: 'directory', ...source }),
    state: 'preparing' as const,
    error: null,
    prepared: null,
    min_agents: file.scaling.min_agents,
    max_agents: file.scaling.max_agents,
    profile: file.agent_profile,
    max_session_seconds: file.max_session_duration,
    websocket_auth: file.websocket_auth,
    created_at: now,
    updated_at: now,
  };
}
