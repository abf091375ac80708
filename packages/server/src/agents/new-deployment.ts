import type { Insertable } from 'kysely';
import type { Database, DeploymentSource, DeploymentsTable, SecretPin } from '../store/tables.ts';
import { insertDeployment, supersede } from './deployment-rows.ts';
import { type AgentRow, updateAgent } from './rows.ts';
import type { Settings } from './settings.ts';

type Prepared = Readonly<Record<string, string | number | boolean | null>>;

/** What is decided about a deployment before it is made. */
export type Wanted = {
  readonly source: DeploymentSource;
  /** What a build was made into; null for a directory, which has yet to be prepared. */
  readonly prepared: Prepared | null;
  readonly settings: Settings;
  readonly createdByKeyId: string | null;
  readonly rolledBackFrom: string | null;
  readonly secretPins: readonly SecretPin[];
};

/**
 * Makes a deployment the wanted one of its agent. It takes no traffic until an instance of it was ready; one that was on
 * its way before is given up. Call it in a transaction that holds the agent's lock. Returns its id.
 */
export async function deployNew(
  context: { db: Database; now: () => Date; newId: () => string },
  agent: Pick<AgentRow, 'id'>,
  wanted: Wanted,
): Promise<string> {
  const { db } = context;
  const id = context.newId();
  const now = context.now();
  await insertDeployment(db, rowOf(id, agent.id, wanted, now));
  await supersede(db, agent.id, id, now);
  await updateAgent(db, agent.id, { desired_deployment_id: id, updated_at: now });
  return id;
}

function rowOf(id: string, agentId: string, wanted: Wanted, now: Date): Insertable<DeploymentsTable> {
  const { source, prepared, settings } = wanted;
  return {
    id,
    agent_id: agentId,
    source: JSON.stringify(source),
    build_id: source.kind === 'build' ? source.buildId : null,
    state: prepared === null ? 'preparing' : 'validating',
    state_at: now,
    error: null,
    prepared: prepared === null ? null : JSON.stringify(prepared),
    min_agents: settings.minAgents,
    max_agents: settings.maxAgents,
    profile: settings.profile,
    max_session_seconds: settings.maxSessionSeconds,
    websocket_auth: settings.websocketAuth,
    secret_pins: JSON.stringify(wanted.secretPins),
    created_by_key_id: wanted.createdByKeyId,
    rolled_back_from: wanted.rolledBackFrom,
    created_at: now,
    updated_at: now,
  };
}
