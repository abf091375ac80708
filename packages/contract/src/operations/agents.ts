import { z } from 'zod';
import {
  AgentProfile,
  AudioFilter,
  ConversationLevel,
  CpuArchitecture,
  ImageReferenceText,
  MaxAgents,
  MaxSessionDuration,
  MinAgents,
  WebsocketAuth,
  WebsocketStart,
} from '../agent-fields.ts';
import { editors, everyone } from '../authorization.ts';
import { ConversationRedaction } from '../conversation/redaction.ts';
import { defineOperation } from '../operation.ts';
import { ResourceName } from '../resource-name.ts';
import { botStateLabels, deploymentPhaseLabels, listStatusValues } from '../statuses.ts';
import { Deployment, PinnedSecretSet } from './deployments.ts';
import {
  AgentPathParameters,
  BotTransports,
  IsoDateTime,
  requestWithBody,
  requestWithoutBody,
  Uuid,
} from './fields.ts';

const RevisionHealth = z.object({
  ready: z.boolean(),
  state: z.enum(listStatusValues(botStateLabels)),
  restartCount: z.number().int(),
  replicasStarted: z.number().int(),
  reason: z.string().nullable(),
  lastExitCode: z.number().int().nullable(),
  lastTerminationReason: z.string().nullable(),
  message: z.string().nullable(),
});

const RevisionInfo = z.object({
  deploymentID: Uuid,
  phase: z.enum(listStatusValues(deploymentPhaseLabels)),
  readyReplicas: z.number().int(),
  phaseStartedAt: IsoDateTime,
  hasInfrastructureIssue: z.boolean().describe('The service, not the bot, prevents it from starting'),
  health: RevisionHealth,
});

const AgentCondition = z.object({
  type: z.enum(['Degraded', 'Progressing']),
  status: z.enum(['True', 'False']),
  reason: z.string(),
  message: z.string(),
  lastTransitionTime: IsoDateTime.describe('Since when'),
});

const StartMethod = z.object({
  level: z
    .enum(['module', 'libraries', 'spawn'])
    .describe('Forked from a process that imported the bot, or its libraries only; or spawned, and imports everything'),
  reason: z.string().nullable().describe('Why the level is not module'),
});

const AgentConversation = z.object({
  level: ConversationLevel.describe(
    'What the service keeps of each new session: nothing, times and numbers, or also the text',
  ),
  maximumLevel: ConversationLevel.describe('The operator allows no higher level. A session gets the lower of the two'),
  redact: z
    .array(z.string())
    .optional()
    .describe('What bots remove from texts: built-in rules, and regular expressions between slashes'),
});

/** An agent with its rollout. Existing clients call this type `ServiceDetails`. */
export const AgentDetails = z
  .object({
    id: Uuid,
    name: z.string(),
    organizationId: Uuid,
    region: z.string(),
    createdAt: IsoDateTime,
    updatedAt: IsoDateTime,
    ready: z.boolean().describe('A session can be started now'),
    available: z.boolean().describe('A deployment is serving'),
    activeDeploymentReady: z.boolean(),
    desiredDeploymentId: Uuid,
    reconciledDeploymentId: Uuid.nullable(),
    activeDeploymentId: Uuid.nullable(),
    autoScaling: z.object({ minReplicas: z.number().int(), maxReplicas: z.number().int() }),
    activeSessionCount: z.number().int(),
    idleInstanceCount: z.number().int().describe('Warm instances, ready for a session'),
    startingInstanceCount: z.number().int(),
    agentProfile: z.string(),
    maxSessionDuration: z.number().int().describe('Seconds'),
    websocketAuth: WebsocketAuth,
    transports: BotTransports,
    secretSets: z.array(PinnedSecretSet).describe('Of the serving deployment, else of the desired one'),
    krispViva: z.object({ audioFilter: AudioFilter.nullable() }).nullable(),
    conversation: AgentConversation.optional().describe('Missing in responses of earlier versions'),
    startMethod: StartMethod.optional().describe('Missing until an instance has been started'),
    recentStarts: z
      .object({
        count: z.number().int().describe('Sessions of the last hour whose bot started'),
        warm: z.number().int().describe('How many of them found a ready instance'),
        instanceStartMs: z
          .number()
          .int()
          .nullable()
          .describe(
            'Median time that the present instances took to become ready, which is the time to refill the warm pool',
          ),
      })
      .optional()
      .describe('Only in the response to a request for one agent'),
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
    id: Uuid,
    name: z.string(),
    region: z.string(),
    organizationId: Uuid,
    desiredDeploymentId: Uuid,
    reconciledDeploymentId: Uuid.nullable(),
    activeDeploymentId: Uuid.nullable(),
    createdAt: IsoDateTime,
    updatedAt: IsoDateTime,
    deletedAt: IsoDateTime.nullable(),
    secretSets: z.array(PinnedSecretSet),
    deployment: Deployment.optional(),
  })
  .meta({ id: 'AgentListItem' });
export type AgentListItem = z.infer<typeof AgentListItem>;

const agentOperation = { tag: 'agents', key: 'private' } as const;

/** The response has the list of agents twice, because existing clients read `services` and some scripts read `agents`. */
export const listAgents = defineOperation({
  ...requestWithoutBody,
  ...agentOperation,
  name: 'listAgents',
  summary: 'List the agents of the organization',
  grantees: everyone,
  path: '/agents',
  query: z.object({
    includeActiveDeployment: z.enum(['true', 'false']).default('false'),
    region: z.string().optional(),
  }),
  response: z.object({ services: z.array(AgentListItem), agents: z.array(AgentListItem) }),
  errors: ['invalid-request'],
});

export const getAgent = defineOperation({
  ...requestWithoutBody,
  ...agentOperation,
  name: 'getAgent',
  summary: 'Get an agent with its deployments, instances and problems',
  grantees: everyone,
  path: '/agents/{agentName}',
  params: AgentPathParameters,
  response: AgentDetails,
  errors: ['not-found'],
});

/** Unknown fields in the request are ignored, because existing clients send fields that this service does not know. */
const settings = {
  buildId: z.uuid().nullish().describe('A build of this region that succeeded; in regions that accept builds'),
  image: ImageReferenceText.nullish().describe(
    'A container image, such as ghcr.io/team/my-bot:1.4, in regions that accept images. A tag is looked up again',
  ),
  imagePullSecretSet: z
    .string()
    .nullish()
    .describe('The image pull secret for the registry, in regions that accept images; null removes it'),
  secretSet: z.string().nullish().describe('Null removes it'),
  autoScaling: z
    .object({ minAgents: MinAgents.nullish(), maxAgents: MaxAgents.nullish() })
    .refine(({ minAgents, maxAgents }) => (minAgents ?? 0) <= (maxAgents ?? Infinity), 'minAgents is above maxAgents')
    .nullish(),
  agentProfile: AgentProfile.nullish(),
  maxSessionDuration: MaxSessionDuration.nullish().describe('Seconds'),
  websocketAuth: WebsocketAuth.nullish(),
  websocketStart: WebsocketStart.nullish().describe('minimal: a WebSocket start answers only wsUrl and token'),
  fork: z.boolean().nullish().describe('Whether instances of a Python bot may be forked; default true'),
  conversation: z
    .object({ level: ConversationLevel.nullish(), redact: ConversationRedaction.nullish() })
    .nullish()
    .describe('Holds for new sessions at once, without a new deployment. A rollback does not change it'),
  krispViva: z.object({ audioFilter: AudioFilter.nullish() }).nullish(),
  resources: z.unknown().optional().describe('Regions that take no profiles only'),
  architecture: CpuArchitecture.nullish().describe('Not supported: bots run on the architecture of the machine'),
  git: z.unknown().optional().describe('Not supported'),
};

const CreateAgentRequest = z
  .object({ serviceName: ResourceName, region: z.string().nullish(), ...settings })
  .meta({ id: 'CreateAgentRequest' });

/** Fields that the request omits keep their values. */
export const UpdateAgentRequest = z
  .object({
    region: z.string().nullish().describe('The region of the agent, which cannot change'),
    ...settings,
    forceRedeploy: z.boolean().nullish().describe('Create a deployment even if nothing changed'),
  })
  .meta({ id: 'UpdateAgentRequest' });
export type AgentSettings = z.output<typeof UpdateAgentRequest>;

/** The agent after a create, update or rollback, and what changed. */
const DeployedAgent = AgentDetails.extend({
  change: z
    .enum(['deployment', 'scaling', 'conversation', 'none'])
    .describe(
      'deployment: a new one was created; scaling: only the scaling of the existing one changed; ' +
        'conversation: what is kept of conversations changed, and perhaps the scaling, without a new deployment',
    ),
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

export const createAgent = defineOperation({
  ...requestWithBody,
  ...agentOperation,
  name: 'createAgent',
  summary: 'Create an agent with its first deployment',
  audit: 'agents.deploy',
  grantees: editors,
  path: '/agents',
  body: CreateAgentRequest,
  response: DeployedAgent,
  errors: [...settingErrors, 'agent-exists', 'region-unknown'],
});

export const updateAgent = defineOperation({
  ...requestWithBody,
  ...agentOperation,
  name: 'updateAgent',
  summary: 'Deploy: change an agent. Creates a deployment unless only the scaling or the conversation level changes',
  audit: 'agents.deploy',
  grantees: editors,
  path: '/agents/{agentName}',
  params: AgentPathParameters,
  body: UpdateAgentRequest,
  response: DeployedAgent,
  errors: [...settingErrors, 'secret-set-damaged', 'not-found'],
});

export const deleteAgent = defineOperation({
  ...requestWithoutBody,
  ...agentOperation,
  name: 'deleteAgent',
  summary: 'Delete an agent. Live sessions continue to their end',
  audit: 'agents.delete',
  grantees: editors,
  method: 'DELETE',
  path: '/agents/{agentName}',
  params: AgentPathParameters,
  response: z.object({
    status: z.literal('OK'),
    activeSessionCount: z
      .number()
      .int()
      .describe('Sessions that are still live. Their records stay available under the id of the agent'),
    id: Uuid,
  }),
  errors: ['not-found'],
});

export const rollback = defineOperation({
  ...requestWithBody,
  ...agentOperation,
  name: 'rollback',
  summary: 'Roll back to an earlier deployment and its settings',
  audit: 'agents.rollback',
  grantees: editors,
  path: '/agents/{agentName}/rollback',
  params: AgentPathParameters,
  body: z
    .object({ deploymentId: z.uuid().nullish().describe('Default: the deployment that served before the current one') })
    .nullish(),
  response: DeployedAgent,
  errors: [
    'invalid-request',
    'not-found',
    'deployment-not-found',
    'no-earlier-deployment',
    'deployment-unavailable',
    'secret-set-damaged',
  ],
});
