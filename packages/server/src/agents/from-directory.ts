import { realpath } from 'node:fs/promises';
import { basename } from 'node:path';
import { ApiError, type DeployFile } from '@bothost/contract';
import { pinSecretSetRevision } from '../secrets/pin.ts';
import type { StoreContext } from '../store/store-context.ts';
import type { Database, DeploymentCodeSource, SecretRevisionPin } from '../store/tables.ts';
import { recordAgentEvent } from './audit.ts';
import { createDeployment } from './create-deployment.ts';
import { DeployFileError, readDeployFile } from './deploy-file.ts';
import { findDeployment, findNewestDirectoryDeployment } from './deployment-rows.ts';
import { lockOrInsertAgent, updateAgent } from './rows.ts';
import { defaultSettings, type Settings } from './settings.ts';

type Context = Pick<StoreContext, 'db' | 'now' | 'newId'> & {
  hashDirectory: (path: string) => Promise<string>;
};

export type DirectoryAgent = {
  readonly name: string;
  readonly deploymentId: string;
  readonly changed: boolean;
  /** False if the reconciler still has to prepare or validate the deployment. */
  readonly prepared: boolean;
};

/**
 * Serves a directory as an agent. Creates a deployment if the path, content or `deploy.toml` of the directory changed
 * since the last start of the service. The reconciler prepares the deployment.
 *
 * @throws DeployFileError, or the file system's error if the directory cannot be read
 */
export async function createAgentFromProjectDirectory(
  context: Context,
  organizationId: string,
  region: string,
  path: string,
): Promise<DirectoryAgent> {
  const directory = await realpath(path);
  const file = await readDeployFile(directory, basename(directory));
  const name = file.agent_name;
  const contentHash = await context.hashDirectory(directory);
  return context.db.transaction().execute(async (db) => {
    const agent = await lockOrInsertAgent(db, agentRow(context, organizationId, region, name));
    const targetRegion = file.region ?? region;
    if (agent.region !== region || targetRegion !== region) {
      const other = agent.region === region ? targetRegion : agent.region;
      throw new DeployFileError(`${directory}: the agent ${name} belongs to region ${other}, not to ${region}`);
    }
    const desired =
      agent.desired_deployment_id === null ? undefined : await findDeployment(db, agent.desired_deployment_id);
    const newest = await findNewestDirectoryDeployment(db, agent.id);
    const failed = desired?.state === 'failed' && desired.id === newest?.id;
    // If a user deployed something else to this agent, keep that deployment until the directory changes.
    if (desired !== undefined && newest !== undefined && isSame(newest.source, directory, contentHash) && !failed) {
      const isOurs = desired.id === newest.id;
      return { name, deploymentId: desired.id, changed: false, prepared: !isOurs || desired.state === 'ready' };
    }
    const deploymentId = await createDeployment({ ...context, db }, agent, {
      source: { kind: 'directory', path: directory, contentHash },
      prepared: null,
      settings: settingsFromFile(file),
      creator: null,
      rolledBackFrom: null,
      secretPins: await pinsOf(db, { organizationId, region }, directory, file),
    });
    // A level above the operator's limit is stored, and its sessions get the limit: a directory that the operator serves, such as
    // the sample bot, must not fail because of the limit.
    const { level, redact } = file.conversation ?? {};
    if (level !== undefined || redact !== undefined) {
      const conversation_redact = redact === undefined ? undefined : JSON.stringify(redact);
      await updateAgent(db, agent.id, { conversation_level: level, conversation_redact });
    }
    const service = { keyId: null, organizationId };
    await recordAgentEvent({ ...context, db }, service, agent, { action: 'agents.deploy', keys: [deploymentId] });
    return { name, deploymentId, changed: true, prepared: false };
  });
}

function isSame(source: DeploymentCodeSource, path: string, contentHash: string): boolean {
  return source.kind === 'directory' && source.path === path && source.contentHash === contentHash;
}

/** Pins the deploy file's secret set. Rejects if it is not ready: the agent then keeps its deployment until the next start. */
async function pinsOf(
  db: Database,
  scope: { readonly organizationId: string; readonly region: string },
  directory: string,
  file: DeployFile,
): Promise<SecretRevisionPin[]> {
  if (file.secret_set === undefined) return [];
  try {
    return [await pinSecretSetRevision(db, scope, file.secret_set)];
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const message = `${directory}: secret_set: ${error.message} The next start of the service looks for it again.`;
    throw new DeployFileError(message, { cause: error });
  }
}

function settingsFromFile(file: DeployFile): Settings {
  return {
    minAgents: file.scaling.min_agents ?? defaultSettings.minAgents,
    maxAgents: file.scaling.max_agents,
    profile: file.agent_profile,
    maxSessionSeconds: file.max_session_duration,
    websocketAuth: file.websocket_auth,
    websocketStart: file.websocket_start ?? defaultSettings.websocketStart,
    fork: file.fork,
  };
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
