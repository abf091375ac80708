import {
  type AgentSettings,
  ApiError,
  type ConversationLevel,
  createApiError,
  defaultConversationLevel,
} from '@bothost/contract';
import type { Actor } from '../audit/chain.ts';
import { getOrganizationProperties, listRegions } from '../organizations/properties.ts';
import { pinSecretSetRevision } from '../secrets/pin.ts';
import type { Database, SecretRevisionPin } from '../store/tables.ts';
import { recordAgentEvent } from './audit.ts';
import { createDeployment, findDeployableBuild, type NewDeployment } from './create-deployment.ts';
import { type DeploymentRow, findDeployment, updateScaling } from './deployment-rows.ts';
import { type AgentRow, insertAgent, lockAgentByName, updateAgent as updateAgentRow } from './rows.ts';
import {
  compareSettings,
  defaultSettings,
  findConversationLevelProblem,
  mergeSettings,
  requireSupportedSettings,
  type Settings,
  toSettings,
} from './settings.ts';

type Context = { db: Database; now: () => Date; newId: () => string; maxConversationLevel: ConversationLevel };
type Scope = Actor & { readonly organizationId: string };

/**
 * What a request changes. `deployment`: it creates a new deployment. `scaling`: it changes only the minimum or maximum number
 * of instances. `conversation`: it changes the conversation level, and perhaps the scaling. `none`: it changes nothing.
 */
export type DeploymentChange = 'deployment' | 'scaling' | 'conversation' | 'none';

/**
 * Creates an agent with its first deployment.
 *
 * @throws failure `agent-exists`, `region-unknown`, `build-not-usable`, `not-supported`, the failures of
 * `pinSecretSetRevision`, `invalid-request`
 */
export async function createAgent(
  context: Context,
  scope: Scope,
  request: AgentSettings & { readonly serviceName: string },
): Promise<DeploymentChange> {
  requireSupportedSettings(request);
  const { buildId } = request;
  if (typeof buildId !== 'string') throw buildMissing();
  const settings = mergeSettings(request, defaultSettings);
  const level = levelOf(context, request) ?? defaultConversationLevel;
  const region = request.region ?? (await getOrganizationProperties(context, scope)).defaultRegion;
  const regions = await listRegions(context);
  if (!regions.some(({ code }) => code === region)) throw createApiError('region-unknown');
  return context.db.transaction().execute(async (db) => {
    const now = context.now();
    const agent = {
      id: context.newId(),
      organization_id: scope.organizationId,
      name: request.serviceName,
      region,
      conversation_level: level,
      created_at: now,
      updated_at: now,
    };
    if (!(await insertAgent(db, agent))) throw createApiError('agent-exists');
    const build = await findDeployableBuild({ ...context, db }, { ...scope, region }, buildId);
    if (build === null) throw createApiError('build-not-usable');
    const pins = await pinNamed(db, { ...scope, region }, request.secretSet ?? null);
    const id = await createDeployment({ ...context, db }, agent, newDeployment(build, settings, scope, pins));
    await recordAgentEvent({ ...context, db }, scope, agent, { action: 'agents.deploy', keys: [id] });
    return 'deployment' as const;
  });
}

/**
 * Deploys an agent. Fields that the request omits keep their values. Concurrent calls wait for the lock on the agent's
 * row, so the last request determines the desired deployment.
 *
 * @throws failure `not-found`, `build-not-usable`, `not-supported`, the failures of `pinSecretSetRevision`,
 * `secret-set-damaged`, `invalid-request`
 */
export async function updateAgent(
  context: Context,
  scope: Scope,
  agentName: string,
  request: AgentSettings,
): Promise<DeploymentChange> {
  requireSupportedSettings(request);
  return context.db.transaction().execute(async (db) => {
    const agent = await lockAgentByName(db, scope.organizationId, agentName);
    const before = agent?.desired_deployment_id ? await findDeployment(db, agent.desired_deployment_id) : undefined;
    if (agent === undefined || before === undefined) throw createApiError('not-found');
    requireSameRegion(agent, request.region);
    const settings = mergeSettings(request, toSettings(before));
    const levelBefore = agent.conversation_level;
    const level = levelOf(context, request) ?? levelBefore;
    const requested = changeOf(before, request, settings);
    const pins = await pinsFor(db, { ...scope, region: agent.region }, before, request.secretSet, requested);
    // A changed secret needs a new deployment, because running instances keep the values they were started with.
    const change = samePins(before.secret_pins, pins) ? requested : 'deployment';
    const inside = { ...context, db };
    const levelChanges = level === levelBefore ? [] : [`conversation_level ${levelBefore} > ${level}`];
    if (levelChanges.length > 0)
      await updateAgentRow(db, agent.id, { conversation_level: level, updated_at: context.now() });
    if (change === 'deployment') {
      const source = await sourceFor(inside, { ...scope, region: agent.region }, before, request.buildId);
      const id = await createDeployment(inside, agent, newDeployment(source, settings, scope, pins));
      await recordAgentEvent(inside, scope, agent, { action: 'agents.deploy', keys: [id, ...levelChanges] });
    } else if (change === 'scaling') {
      const ids = [before.id, agent.active_deployment_id].filter((id) => id !== null);
      await updateScaling(db, ids, settings, context.now());
      const keys = [...scalingChanges(before, settings), ...levelChanges];
      await recordAgentEvent(inside, scope, agent, { action: 'agents.scale', keys });
    } else if (levelChanges.length > 0) {
      await recordAgentEvent(inside, scope, agent, { action: 'agents.deploy', keys: levelChanges });
    } else {
      await recordAgentEvent(inside, scope, agent, { action: 'agents.deploy', keys: [], result: 'unchanged' });
    }
    return levelChanges.length > 0 && change !== 'deployment' ? 'conversation' : change;
  });
}

/**
 * Returns the requested conversation level, or null.
 *
 * @throws failure `invalid-request` if the operator does not allow the level
 */
function levelOf(
  { maxConversationLevel }: Pick<Context, 'maxConversationLevel'>,
  { conversation }: AgentSettings,
): ConversationLevel | null {
  const level = conversation?.level ?? null;
  const problem = level === null ? null : findConversationLevelProblem(level, maxConversationLevel);
  if (problem === null) return level;
  const message = `conversation.level: ${problem}`;
  throw createApiError('invalid-request', { message, issues: [{ path: 'body.conversation.level', message: problem }] });
}

/**
 * Returns what the request changes, without regard to secrets. After a failed deployment, every request counts as a new
 * deployment.
 */
function changeOf(
  before: DeploymentRow,
  request: AgentSettings,
  settings: Settings,
): ReturnType<typeof compareSettings> {
  const otherBuild = typeof request.buildId === 'string' && request.buildId.toLowerCase() !== before.build_id;
  if (otherBuild || request.forceRedeploy === true || before.state === 'failed') return 'deployment';
  return compareSettings(toSettings(before), settings);
}

function scalingChanges(before: DeploymentRow, { minAgents, maxAgents }: Settings): string[] {
  const change = (name: string, from: number, to: number) => (from === to ? [] : [`${name} ${from} > ${to}`]);
  return [...change('min_agents', before.min_agents, minAgents), ...change('max_agents', before.max_agents, maxAgents)];
}

type Source = Pick<NewDeployment, 'source' | 'prepared'>;

/** The source of the requested build. If the request names no build, the source of the previous deployment. */
async function sourceFor(
  context: Pick<Context, 'db' | 'now'>,
  scope: { readonly organizationId: string; readonly region: string },
  before: DeploymentRow,
  buildId: string | null | undefined,
): Promise<Source> {
  const id = buildId ?? before.build_id;
  // A deployment from a directory has no build: its directory is copied again.
  if (id === null) return { source: before.source, prepared: null };
  const build = await findDeployableBuild(context, scope, id);
  if (build === null) throw createApiError('build-not-usable');
  return build;
}

/**
 * Returns the current revision of the requested secret set. If the request does not mention a secret set, returns the current
 * revision of the set that the agent already uses. If that set was deleted or is not ready, and the request changes only the
 * number of instances, returns the revision that the agent already uses.
 */
async function pinsFor(
  db: Database,
  scope: { readonly organizationId: string; readonly region: string },
  before: DeploymentRow,
  named: string | null | undefined,
  requested: ReturnType<typeof compareSettings>,
): Promise<readonly SecretRevisionPin[]> {
  if (named !== undefined) return pinNamed(db, scope, named);
  const name = before.secret_pins[0]?.secretSet ?? null;
  return pinNamed(db, scope, name).catch((error: unknown) => {
    if (error instanceof ApiError && requested === 'scaling') return before.secret_pins;
    if (!(error instanceof ApiError) || error.reason !== 'secret-set-not-found') throw error;
    const message = `The secret set ${name}, which the agent runs with, was deleted. Set it again, or deploy with another one or none.`;
    throw createApiError('secret-set-not-found', { message });
  });
}

/** Pins the current revision of a secret set. Returns no pins if `name` is null. Rejects if the set is not ready. */
async function pinNamed(
  db: Database,
  scope: { readonly organizationId: string; readonly region: string },
  name: string | null,
): Promise<SecretRevisionPin[]> {
  return name === null ? [] : [await pinSecretSetRevision(db, scope, name)];
}

function samePins(before: readonly SecretRevisionPin[], after: readonly SecretRevisionPin[]): boolean {
  const text = (pins: readonly SecretRevisionPin[]) => pins.map(({ setId, revision }) => `${setId} ${revision}`).join();
  return text(before) === text(after);
}

function newDeployment(
  source: Source,
  settings: Settings,
  scope: Scope,
  secretPins: readonly SecretRevisionPin[],
): NewDeployment {
  const { source: from, prepared } = source;
  return { source: from, prepared, settings, createdByKeyId: scope.keyId, rolledBackFrom: null, secretPins };
}

/** Existing clients always send the region of the agent, so only a different region is an error. */
function requireSameRegion(agent: AgentRow, region: string | null | undefined): void {
  if (typeof region !== 'string' || region === agent.region) return;
  const message = `The agent is in the region ${agent.region}, which cannot change. Create another agent there.`;
  throw createApiError('invalid-request', { message, issues: [{ path: 'body.region', message }] });
}

function buildMissing() {
  const message = 'Name the build to deploy as buildId.';
  return createApiError('invalid-request', { message, issues: [{ path: 'body.buildId', message }] });
}
