import { type AgentSettings, ApiError, failure } from '@bothost/contract';
import { getProperties, listRegions } from '../organizations/properties.ts';
import { pinSecretSet } from '../secrets/pin.ts';
import type { Database, SecretPin } from '../store/tables.ts';
import { sourceOfBuild } from './build-source.ts';
import { type DeploymentRow, findDeployment, updateScaling } from './deployment-rows.ts';
import { deployNew, type Wanted } from './new-deployment.ts';
import { type AgentRow, insertAgent, lockAgentByName } from './rows.ts';
import {
  defaultSettings,
  differenceOf,
  requireSupported,
  type Settings,
  settingsFrom,
  settingsOf,
} from './settings.ts';

type Context = { db: Database; now: () => Date; newId: () => string };
type Scope = { readonly organizationId: string; readonly keyId: string };

/** What became of a request: a new deployment, other numbers for the one that is there, or nothing. */
export type Change = 'deployment' | 'scaling' | 'none';

/**
 * Creates an agent with its first deployment.
 *
 * @throws failure `agent-exists`, `region-unknown`, `build-not-usable`, `not-supported`, the failures of `pinSecretSet`, `invalid-request`
 */
export async function createAgent(
  context: Context,
  scope: Scope,
  request: AgentSettings & { readonly serviceName: string },
): Promise<Change> {
  requireSupported(request);
  const { buildId } = request;
  if (typeof buildId !== 'string') throw buildMissing();
  const settings = settingsFrom(request, defaultSettings);
  const region = request.region ?? (await getProperties(context, scope)).defaultRegion;
  const regions = await listRegions(context);
  if (!regions.some(({ code }) => code === region)) throw failure('region-unknown');
  return context.db.transaction().execute(async (db) => {
    const now = context.now();
    const agent = {
      id: context.newId(),
      organization_id: scope.organizationId,
      name: request.serviceName,
      region,
      created_at: now,
      updated_at: now,
    };
    if (!(await insertAgent(db, agent))) throw failure('agent-exists');
    const build = await sourceOfBuild({ ...context, db }, { ...scope, region }, buildId);
    if (build === null) throw failure('build-not-usable');
    const pins = await pinned(db, { ...scope, region }, request.secretSet ?? null);
    await deployNew({ ...context, db }, agent, wanted(build, settings, scope, pins));
    return 'deployment' as const;
  });
}

/**
 * Deploys: what the request leaves out stays as it is. Deployments of one agent queue up at its row, so the last one that
 * was asked for is the one that is wanted.
 *
 * @throws failure `not-found`, `build-not-usable`, `not-supported`, the failures of `pinSecretSet`, `secret-set-damaged`,
 * `invalid-request`
 */
export async function updateAgent(
  context: Context,
  scope: Scope,
  agentName: string,
  request: AgentSettings,
): Promise<Change> {
  requireSupported(request);
  return context.db.transaction().execute(async (db) => {
    const agent = await lockAgentByName(db, scope.organizationId, agentName);
    const before = agent?.desired_deployment_id ? await findDeployment(db, agent.desired_deployment_id) : undefined;
    if (agent === undefined || before === undefined) throw failure('not-found');
    requireSameRegion(agent, request.region);
    const settings = settingsFrom(request, settingsOf(before));
    const asked = changeOf(before, request, settings);
    const pins = await pinsFor(db, { ...scope, region: agent.region }, before, request.secretSet, asked);
    // A changed secret needs a new deployment: running instances keep the values that they started with.
    const change = samePins(before.secret_pins, pins) ? asked : 'deployment';
    if (change === 'deployment') {
      const source = await sourceFor({ ...context, db }, { ...scope, region: agent.region }, before, request.buildId);
      await deployNew({ ...context, db }, agent, wanted(source, settings, scope, pins));
    }
    if (change === 'scaling') {
      const ids = [before.id, agent.active_deployment_id].filter((id) => id !== null);
      await updateScaling(db, ids, settings, context.now());
    }
    return change;
  });
}

/** What is asked for, secrets aside. A deployment that failed is tried again whatever that is. */
function changeOf(before: DeploymentRow, request: AgentSettings, settings: Settings): Change {
  const otherBuild = typeof request.buildId === 'string' && request.buildId.toLowerCase() !== before.build_id;
  if (otherBuild || request.forceRedeploy === true || before.state === 'failed') return 'deployment';
  return differenceOf(settingsOf(before), settings);
}

type Source = Pick<Wanted, 'source' | 'prepared'>;

/** The build that is named, else what runs already. */
async function sourceFor(
  context: Pick<Context, 'db' | 'now'>,
  scope: { readonly organizationId: string; readonly region: string },
  before: DeploymentRow,
  buildId: string | null | undefined,
): Promise<Source> {
  const id = buildId ?? before.build_id;
  // A directory of the service is copied anew.
  if (id === null) return { source: before.source, prepared: null };
  const build = await sourceOfBuild(context, scope, id);
  if (build === null) throw failure('build-not-usable');
  return build;
}

/**
 * What the request says, else the set of the deployment before, as it is now. Other numbers of instances need no set that is
 * ready: where only they are asked for and the set cannot be had, it stays as it was.
 */
async function pinsFor(
  db: Database,
  scope: { readonly organizationId: string; readonly region: string },
  before: DeploymentRow,
  named: string | null | undefined,
  asked: Change,
): Promise<readonly SecretPin[]> {
  if (named !== undefined) return pinned(db, scope, named);
  const name = before.secret_pins[0]?.secretSet ?? null;
  return pinned(db, scope, name).catch((error: unknown) => {
    if (error instanceof ApiError && asked === 'scaling') return before.secret_pins;
    if (!(error instanceof ApiError) || error.reason !== 'secret-set-not-found') throw error;
    const message = `The secret set ${name}, which the agent runs with, was deleted. Set it again, or deploy with another one or none.`;
    throw failure('secret-set-not-found', { message });
  });
}

/** The set as it is now; a deploy is refused when it is not ready. */
async function pinned(
  db: Database,
  scope: { readonly organizationId: string; readonly region: string },
  name: string | null,
): Promise<SecretPin[]> {
  return name === null ? [] : [await pinSecretSet(db, scope, name)];
}

function samePins(before: readonly SecretPin[], after: readonly SecretPin[]): boolean {
  const text = (pins: readonly SecretPin[]) => pins.map(({ setId, revision }) => `${setId} ${revision}`).join();
  return text(before) === text(after);
}

function wanted(source: Source, settings: Settings, scope: Scope, secretPins: readonly SecretPin[]): Wanted {
  const { source: from, prepared } = source;
  return { source: from, prepared, settings, createdByKeyId: scope.keyId, rolledBackFrom: null, secretPins };
}

/** Existing clients send the region along, so only another one is a mistake. */
function requireSameRegion(agent: AgentRow, region: string | null | undefined): void {
  if (typeof region !== 'string' || region === agent.region) return;
  const message = `The agent lives in the region ${agent.region}, which cannot change. Create another agent there.`;
  throw failure('invalid-request', { message, issues: [{ path: 'body.region', message }] });
}

function buildMissing() {
  const message = 'Name the build to deploy as buildId.';
  return failure('invalid-request', { message, issues: [{ path: 'body.buildId', message }] });
}
