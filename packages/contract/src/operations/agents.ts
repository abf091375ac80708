import { z } from 'zod';
import {
  AgentName,
  AgentProfile,
  Architecture,
  AudioFilter,
  MaxAgents,
  MaxSessionDuration,
  MinAgents,
  WebsocketAuth,
} from '../agent-fields.ts';
import { requestBodyBytes } from '../limits.ts';
import { operation } from '../operation.ts';
import { botStateLabels, deploymentPhaseLabels, statusValues } from '../statuses.ts';
import { Deployment, PinnedSecretSet } from './deployments.ts';
import { AgentPath, Id, noBody, none, Time } from './fields.ts';

const RevisionHealth = z.object({
  ready: z.boolean(),
  state: z.enum(statusValues(botStateLabels)),
  restartCount: z.number().int(),
  replicasStarted: z.number().int(),
  reason: z.string().nullable(),
  lastExitCode: z.number().int().nullable(),
  lastTerminationReason: z.string().nullable(),
  message: z.string().nullable(),
});

const RevisionInfo = z.object({
  deploymentID: Id,
  phase: z.enum(statusValues(deploymentPhaseLabels)),
  readyReplicas: z.number().int(),
  phaseStartedAt: Time,
  hasInfrastructureIssue: z.boolean().describe('It cannot start for a reason that is not the bot'),
  health: RevisionHealth,
});

const AgentCondition = z.object({
  type: z.enum(['Degraded', 'Progressing']),
  status: z.enum(['True', 'False']),
  reason: z.string(),
  message: z.string(),
  lastTransitionTime: Time.describe('Since when'),
});

/** An agent whole (`ServiceDetails` of cloud API 5.3). */
export const AgentDetails = z
  .object({
    id: Id,
    name: z.string(),
    organizationId: Id,
    region: z.string(),
    createdAt: Time,
    updatedAt: Time,
    ready: z.boolean().describe('A session can be started now'),
    available: z.boolean().describe('A deployment serves'),
    activeDeploymentReady: z.boolean(),
    desiredDeploymentId: Id,
    reconciledDeploymentId: Id.nullable(),
    activeDeploymentId: Id.nullable(),
    autoScaling: z.object({ minReplicas: z.number().int(), maxReplicas: z.number().int() }),
    activeSessionCount: z.number().int(),
    idleInstanceCount: z.number().int().describe('Warm instances, ready for a session'),
    startingInstanceCount: z.number().int(),
    agentProfile: z.string(),
    maxSessionDuration: z.number().int().describe('Seconds'),
    websocketAuth: WebsocketAuth,
    secretSets: z.array(PinnedSecretSet).describe('Of what serves, else of what is wanted'),
    krispViva: z.object({ audioFilter: AudioFilter.nullable() }).nullable(),
    deployment: Deployment,
    currentRevision: RevisionInfo.nullable(),
    previousRevision: RevisionInfo.nullable(),
    errors: z.array(z.object({ code: z.string(), message: z.string() })),
    conditions: z.array(AgentCondition),
  })
  .meta({ id: 'AgentDetails' });
export type AgentDetails = z.infer<typeof AgentDetails>;

export const AgentListItem = z
  .object({
    id: Id,
    name: z.string(),
    region: z.string(),
    organizationId: Id,
    desiredDeploymentId: Id,
    reconciledDeploymentId: Id.nullable(),
    activeDeploymentId: Id.nullable(),
    createdAt: Time,
    updatedAt: Time,
    deletedAt: Time.nullable(),
    secretSets: z.array(PinnedSecretSet),
    deployment: Deployment.optional(),
  })
  .meta({ id: 'AgentListItem' });
export type AgentListItem = z.infer<typeof AgentListItem>;

/** Existing clients read `services`, scripts of others `agents` (cloud API 14): both hold the same list. */
export const listAgents = operation({
  name: 'listAgents',
  summary: 'List the agents of the organization',
  tag: 'agents',
  key: 'private',
  method: 'GET',
  path: '/agents',
  params: none,
  query: z.object({
    includeActiveDeployment: z.enum(['true', 'false']).default('false'),
    region: z.string().optional(),
  }),
  body: noBody,
  bodyBytes: 0,
  status: 200,
  response: z.object({ services: z.array(AgentListItem), agents: z.array(AgentListItem) }),
  errors: ['invalid-request'],
});

export const getAgent = operation({
  name: 'getAgent',
  summary: 'Get an agent: what serves, how many instances, what is wrong',
  tag: 'agents',
  key: 'private',
  method: 'GET',
  path: '/agents/{agentName}',
  params: AgentPath,
  query: none,
  body: noBody,
  bodyBytes: 0,
  status: 200,
  response: AgentDetails,
  errors: ['not-found'],
});

/** What a deployment is made of (cloud API 5.3). Unknown fields are ignored: existing clients send extras. */
const settings = {
  buildId: z.uuid().nullish().describe('A build of this region that succeeded'),
  image: z.string().nullish().describe('Regions that run images only'),
  imagePullSecretSet: z.string().nullish().describe('Regions that run images only; null: none from now on'),
  secretSet: z.string().nullish().describe('Null: none from now on'),
  autoScaling: z
    .object({ minAgents: MinAgents.nullish(), maxAgents: MaxAgents.nullish() })
    .refine(({ minAgents, maxAgents }) => (minAgents ?? 0) <= (maxAgents ?? Infinity), 'minAgents is above maxAgents')
    .nullish(),
  agentProfile: AgentProfile.nullish(),
  maxSessionDuration: MaxSessionDuration.nullish().describe('Seconds'),
  websocketAuth: WebsocketAuth.nullish(),
  krispViva: z.object({ audioFilter: AudioFilter.nullish() }).nullish(),
  resources: z.unknown().optional().describe('Regions that take no profiles only'),
  architecture: Architecture.nullish().describe('Regions that run images only'),
  git: z.unknown().optional().describe('Regions that run images only'),
};

const CreateAgentRequest = z
  .object({ serviceName: AgentName, region: z.string().nullish(), ...settings })
  .meta({ id: 'CreateAgentRequest' });

/** What is left out stays as it is. */
const UpdateAgentRequest = z
  .object({
    region: z.string().nullish().describe('Of the agent; it cannot change'),
    ...settings,
    forceRedeploy: z.boolean().nullish().describe('Makes a new deployment even when nothing changed'),
  })
  .meta({ id: 'UpdateAgentRequest' });
export type AgentSettings = z.output<typeof UpdateAgentRequest>;

/** The answer of a create, an update or a rollback: the agent, and what became of the request. */
const DeployedAgent = AgentDetails.extend({
  change: z
    .enum(['deployment', 'scaling', 'none'])
    .describe('deployment: a new one was made; scaling: only the numbers changed, of the one that is there'),
  warning: z.string().optional(),
}).meta({ id: 'DeployedAgent' });
export type DeployedAgent = z.infer<typeof DeployedAgent>;

const settingErrors = [
  'invalid-request',
  'not-supported',
  'build-not-usable',
  'secret-set-not-found',
  'secret-set-elsewhere',
  'secret-set-kind',
  'secret-set-not-ready',
] as const;

export const createAgent = operation({
  name: 'createAgent',
  summary: 'Create an agent with its first deployment',
  tag: 'agents',
  key: 'private',
  method: 'POST',
  path: '/agents',
  params: none,
  query: none,
  body: CreateAgentRequest,
  bodyBytes: requestBodyBytes,
  status: 200,
  response: DeployedAgent,
  errors: [...settingErrors, 'agent-exists', 'region-unknown'],
});

export const updateAgent = operation({
  name: 'updateAgent',
  summary: 'Deploy: change an agent, which makes a new deployment unless only its scaling changed',
  tag: 'agents',
  key: 'private',
  method: 'POST',
  path: '/agents/{agentName}',
  params: AgentPath,
  query: none,
  body: UpdateAgentRequest,
  bodyBytes: requestBodyBytes,
  status: 200,
  response: DeployedAgent,
  errors: [...settingErrors, 'secret-set-damaged', 'not-found'],
});

export const deleteAgent = operation({
  name: 'deleteAgent',
  summary: 'Delete an agent: no new sessions, live ones go on to their end',
  tag: 'agents',
  key: 'private',
  method: 'DELETE',
  path: '/agents/{agentName}',
  params: AgentPath,
  query: none,
  body: noBody,
  bodyBytes: 0,
  status: 200,
  response: z.object({
    status: z.literal('OK'),
    activeSessionCount: z.number().int().describe('Sessions that are still live; their records stay under the id'),
    id: Id,
  }),
  errors: ['not-found'],
});

export const rollback = operation({
  name: 'rollback',
  summary: 'Deploy again what an earlier deployment ran, with its settings',
  tag: 'agents',
  key: 'private',
  method: 'POST',
  path: '/agents/{agentName}/rollback',
  params: AgentPath,
  query: none,
  body: z.object({ deploymentId: z.uuid().nullish().describe('Default: the deployment that served before') }).nullish(),
  bodyBytes: requestBodyBytes,
  status: 200,
  response: DeployedAgent,
  errors: [
    'invalid-request',
    'not-found',
    'deployment-not-found',
    'no-earlier-deployment',
    'deployment-gone',
    'secret-set-damaged',
  ],
});
