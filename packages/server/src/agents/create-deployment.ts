import type { PreparedProject } from '@bothost/runtime';
import type { Insertable } from 'kysely';
import type { Actor } from '../audit/chain.ts';
import { lockUsableBuild } from '../builds/find.ts';
import type { Database, DeploymentCodeSource, DeploymentsTable, SecretRevisionPin } from '../store/tables.ts';
import { insertDeployment, supersedePendingDeployments } from './deployment-rows.ts';
import { type AgentRow, updateAgent } from './rows.ts';
import type { Settings } from './settings.ts';

export type DeploymentCode = {
  readonly source: DeploymentCodeSource;
  /** The build's prepared project. Null if the reconciler has to prepare the source first: a directory or an image. */
  readonly prepared: PreparedProject | null;
  /** If the source is an image. `digest` is null if the reference is to be looked up again. */
  readonly image?: { readonly digest: string | null; readonly pullSecret: string | null };
};

export type NewDeployment = DeploymentCode & {
  readonly settings: Settings;
  /** Null for a directory of the service. */
  readonly creator: Pick<Actor, 'keyId' | 'keyName' | 'person'> | null;
  readonly rolledBackFrom: string | null;
  readonly secretPins: readonly SecretRevisionPin[];
};

/** Creates the desired deployment of an agent. Call this in a transaction that holds the agent's lock. */
export async function createDeployment(
  context: { db: Database; now: () => Date; newId: () => string },
  agent: Pick<AgentRow, 'id'>,
  fields: NewDeployment,
): Promise<string> {
  const { db } = context;
  const id = context.newId();
  const now = context.now();
  await insertDeployment(db, rowOf(id, agent.id, fields, now));
  await supersedePendingDeployments(db, agent.id, id, now);
  await updateAgent(db, agent.id, { desired_deployment_id: id, updated_at: now });
  return id;
}

function rowOf(id: string, agentId: string, fields: NewDeployment, now: Date): Insertable<DeploymentsTable> {
  const { source, prepared, image, settings } = fields;
  return {
    id,
    agent_id: agentId,
    source: JSON.stringify(source),
    build_id: source.kind === 'build' ? source.buildId : null,
    state: prepared === null ? 'preparing' : 'validating',
    state_at: now,
    error: null,
    prepared: prepared === null ? null : JSON.stringify(prepared),
    image_digest: image?.digest ?? null,
    image_pull_secret: image?.pullSecret ?? null,
    min_agents: settings.minAgents,
    max_agents: settings.maxAgents,
    profile: settings.profile,
    max_session_seconds: settings.maxSessionSeconds,
    websocket_auth: settings.websocketAuth,
    websocket_start: settings.websocketStart,
    fork: settings.fork,
    secret_pins: JSON.stringify(fields.secretPins),
    created_by_key_id: fields.creator?.keyId ?? null,
    created_by: fields.creator?.person?.email ?? fields.creator?.keyName ?? null,
    rolled_back_from: fields.rolledBackFrom,
    created_at: now,
    updated_at: now,
  };
}

export type DeployableBuild = {
  readonly source: Extract<DeploymentCodeSource, { kind: 'build' }>;
  readonly prepared: Readonly<Record<string, string | number | boolean | null>>;
};

/** Locks the row of a successful build until the transaction ends. Null if the region has no successful build with this id. */
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
