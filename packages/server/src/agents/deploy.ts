import {
  type AgentSettings,
  ApiError,
  type ConversationLevel,
  createApiError,
  createFieldError,
  type DeploySource,
  defaultConversationLevel,
} from '@bothost/contract';
import type { Actor } from '../audit/chain.ts';
import { getOrganizationProperties, listRegions } from '../organizations/properties.ts';
import { pinSecretSetRevision } from '../secrets/pin.ts';
import type { Database, SecretRevisionPin } from '../store/tables.ts';
import { recordAgentEvent } from './audit.ts';
import { createDeployment, type DeploymentCode, type NewDeployment } from './create-deployment.ts';
import {
  type FindImageDigest,
  findNextCode,
  findRequestedCode,
  findRequestedDigest,
  isOtherCode,
  type RegionScope,
} from './deployment-code.ts';
import { type DeploymentRow, findDeployment, updateScaling } from './deployment-rows.ts';
import { type AgentRow, findAgent, insertAgent, lockAgentByName, updateAgent as updateAgentRow } from './rows.ts';
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
 * of instances. `conversation`: it changes the conversation level or redaction, and perhaps the scaling. `none`: it changes nothing.
 */
export type DeploymentChange = 'deployment' | 'scaling' | 'conversation' | 'none';

/**
 * Creates an agent with its first deployment.
 *
 * @throws failure `agent-exists`, `region-unknown`, `build-not-usable`, `not-supported`, the failures of
 * `pinSecretSetRevision` and of `requireImagePullSecret`, `invalid-request`
 */
export async function createAgent(
  context: Context,
  scope: Scope,
  request: AgentSettings & { readonly serviceName: string },
): Promise<DeploymentChange> {
  const level = levelOf(context, request) ?? defaultConversationLevel;
  const redact = request.conversation?.redact ?? [];
  const region = request.region ?? (await getOrganizationProperties(context, scope)).defaultRegion;
  const accepts = await findAccepted(context, region);
  requireSupportedSettings(request, accepts);
  const settings = mergeSettings(request, defaultSettings);
  return context.db.transaction().execute(async (db) => {
    const now = context.now();
    const agent = {
      id: context.newId(),
      organization_id: scope.organizationId,
      name: request.serviceName,
      region,
      conversation_level: level,
      conversation_redact: JSON.stringify(redact),
      created_at: now,
      updated_at: now,
    };
    if (!(await insertAgent(db, agent))) throw createApiError('agent-exists');
    const code = await findRequestedCode({ ...context, db }, { ...scope, region }, accepts, request);
    const pins = await pinNamed(db, { ...scope, region }, request.secretSet ?? null);
    const id = await createDeployment({ ...context, db }, agent, newDeployment(code, settings, scope, pins));
    await recordAgentEvent({ ...context, db }, scope, agent, { action: 'agents.deploy', keys: [id] });
    return 'deployment' as const;
  });
}

/**
 * Deploys an agent. Fields that the request omits keep their values. Concurrent calls wait for the lock on the agent's
 * row, so the last request determines the desired deployment.
 *
 * @throws failure `not-found`, `build-not-usable`, `not-supported`, the failures of `pinSecretSetRevision`,
 * `secret-set-damaged`, `invalid-request`, the failures of `requireImagePullSecret`
 */
export async function updateAgent(
  context: Context & { readonly findImageDigest: FindImageDigest },
  scope: Scope,
  agentName: string,
  request: AgentSettings,
): Promise<DeploymentChange> {
  const found = await findAgent(context.db, scope.organizationId, agentName);
  if (found === undefined || found.name !== agentName) throw createApiError('not-found');
  const inRegion = { ...scope, region: found.region };
  const accepts = await findAccepted(context, found.region);
  requireSupportedSettings(request, accepts);
  // Ask the registry before taking the agent's lock, because session starts wait for that lock.
  const last = found.desired_deployment_id && (await findDeployment(context.db, found.desired_deployment_id));
  const digest = last ? await findRequestedDigest(context.findImageDigest, inRegion, last, request) : null;
  return context.db.transaction().execute(async (db) => {
    const agent = await lockAgentByName(db, scope.organizationId, agentName);
    const before = agent?.desired_deployment_id ? await findDeployment(db, agent.desired_deployment_id) : undefined;
    if (agent === undefined || before === undefined) throw createApiError('not-found');
    requireSameRegion(agent, request.region);
    const settings = mergeSettings(request, toSettings(before));
    const levelBefore = agent.conversation_level;
    const level = levelOf(context, request) ?? levelBefore;
    const requested = changeOf(before, request, settings, digest);
    const pins = await pinsFor(db, inRegion, before, request.secretSet, requested);
    // A changed secret needs a new deployment, because running instances keep the values they were started with.
    const change = samePins(before.secret_pins, pins) ? requested : 'deployment';
    const inside = { ...context, db };
    const redact = JSON.stringify(request.conversation?.redact ?? agent.conversation_redact);
    const conversationChanges = [
      ...(level === levelBefore ? [] : [`conversation_level ${levelBefore} > ${level}`]),
      ...(redact === JSON.stringify(agent.conversation_redact) ? [] : [`conversation_redact ${redact}`]),
    ];
    if (conversationChanges.length > 0) {
      const conversation = { conversation_level: level, conversation_redact: redact };
      await updateAgentRow(db, agent.id, { ...conversation, updated_at: context.now() });
    }
    if (change === 'deployment') {
      const code = await findNextCode(inside, inRegion, accepts, before, request);
      const id = await createDeployment(inside, agent, newDeployment(code, settings, scope, pins));
      await recordAgentEvent(inside, scope, agent, { action: 'agents.deploy', keys: [id, ...conversationChanges] });
    } else if (change === 'scaling') {
      const ids = [before.id, agent.active_deployment_id].filter((id) => id !== null);
      await updateScaling(db, ids, settings, context.now());
      const keys = [...scalingChanges(before, settings), ...conversationChanges];
      await recordAgentEvent(inside, scope, agent, { action: 'agents.scale', keys });
    } else if (conversationChanges.length > 0) {
      await recordAgentEvent(inside, scope, agent, { action: 'agents.deploy', keys: conversationChanges });
    } else {
      await recordAgentEvent(inside, scope, agent, { action: 'agents.deploy', keys: [], result: 'unchanged' });
    }
    return conversationChanges.length > 0 && change !== 'deployment' ? 'conversation' : change;
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

/** What the request changes, without regard to secrets. After a failed deployment, every request counts as new. */
function changeOf(
  before: DeploymentRow,
  request: AgentSettings,
  settings: Settings,
  digest: string | null,
): ReturnType<typeof compareSettings> {
  if (isOtherCode(before, request, digest) || request.forceRedeploy === true || before.state === 'failed')
    return 'deployment';
  return compareSettings(toSettings(before), settings);
}

function scalingChanges(before: DeploymentRow, { minAgents, maxAgents }: Settings): string[] {
  const change = (name: string, from: number, to: number) => (from === to ? [] : [`${name} ${from} > ${to}`]);
  return [...change('min_agents', before.min_agents, minAgents), ...change('max_agents', before.max_agents, maxAgents)];
}

/** What agents of a region are deployed from. @throws failure `region-unknown` */
async function findAccepted(context: Pick<Context, 'db'>, code: string): Promise<DeploySource> {
  const region = (await listRegions(context)).find((one) => one.code === code);
  if (region === undefined) throw createApiError('region-unknown');
  return region.accepts;
}

/**
 * Returns the current revision of the requested secret set. If the request does not mention a secret set, returns the current
 * revision of the set that the agent already uses. If that set was deleted or is not ready, and the request changes only the
 * number of instances, returns the revision that the agent already uses.
 */
async function pinsFor(
  db: Database,
  scope: RegionScope,
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
  code: DeploymentCode,
  settings: Settings,
  scope: Scope,
  secretPins: readonly SecretRevisionPin[],
): NewDeployment {
  return { ...code, settings, creator: scope, rolledBackFrom: null, secretPins };
}

/** Existing clients always send the region of the agent, so only a different region is an error. */
function requireSameRegion(agent: AgentRow, region: string | null | undefined): void {
  if (typeof region !== 'string' || region === agent.region) return;
  const message = `The agent is in the region ${agent.region}, which cannot change. Create another agent there.`;
  throw createFieldError('body.region', message);
}
