import { createApiError, resourceNamePattern } from '@bothost/contract';
import type { Database } from '../store/tables.ts';
import { findAgent, listAgentRows } from './rows.ts';

/**
 * Returns the id of an agent, given its name or id. A deleted agent is found only by its id.
 *
 * @throws failure `not-found`
 */
export async function requireAgentId(db: Database, organizationId: string, nameOrId: string): Promise<string> {
  const id = await findAgentId(db, organizationId, nameOrId);
  if (id === undefined) throw createApiError('not-found');
  return id;
}

export async function findAgentId(db: Database, organizationId: string, nameOrId: string): Promise<string | undefined> {
  return (await findAgent(db, organizationId, nameOrId))?.id;
}

/** Returns the ids of the agents of an organization, without deleted ones. */
export async function listAgentIds(db: Database, organizationId: string): Promise<readonly string[]> {
  return (await listAgentRows(db, organizationId, undefined)).map(({ id }) => id);
}

/** Maps the ids of deployments to the names of their agents. */
export async function findAgentNames(
  db: Database,
  deploymentIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (deploymentIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('deployments')
    .innerJoin('agents', 'agents.id', 'deployments.agent_id')
    .select(['deployments.id', 'agents.name'])
    .where('deployments.id', 'in', [...deploymentIds])
    .execute();
  return new Map(rows.map(({ id, name }) => [id, name]));
}

/** The agent that a vendor names in a URL. */
export type CalledAgent = {
  readonly id: string;
  /** The deployment that serves the agent or is to serve it, if any. */
  readonly deploymentId: string | null;
  /** How often the secrets in its URLs were replaced. */
  readonly urlSecretVersion: number;
};

/** Finds an agent by its name alone. Null if it does not exist. */
export async function findCalledAgent(db: Database, organizationId: string, name: string): Promise<CalledAgent | null> {
  if (!resourceNamePattern.test(name)) return null;
  const agent = await findAgent(db, organizationId, name);
  if (agent === undefined || agent.name !== name) return null;
  const { id, url_secret_version: urlSecretVersion } = agent;
  return { id, urlSecretVersion, deploymentId: agent.active_deployment_id ?? agent.desired_deployment_id };
}
