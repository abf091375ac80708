import { z } from 'zod';
import { operation } from '../operation.ts';
import { AgentPath, Id, noBody, none, Time } from './fields.ts';

const RevisionHealth = z.object({
  ready: z.boolean(),
  state: z.enum(['running', 'waiting', 'terminated']),
  restartCount: z.number().int(),
  replicasStarted: z.number().int(),
  reason: z.string().nullable(),
  lastExitCode: z.number().int().nullable(),
  lastTerminationReason: z.string().nullable(),
  message: z.string().nullable(),
});

const RevisionInfo = z.object({
  deploymentID: Id,
  phase: z.enum(['Creating', 'Validating', 'Active', 'Draining', 'Failed']),
  readyReplicas: z.number().int(),
  phaseStartedAt: Time,
  hasInfrastructureIssue: z.boolean(),
  health: RevisionHealth,
});

/** A deployment as agents show it (cloud API 5.3). */
const Deployment = z.object({
  id: Id,
  serviceId: Id,
  createdAt: Time,
  updatedAt: Time,
  manifest: z.object({
    apiVersion: z.string(),
    kind: z.string(),
    metadata: z.object({ name: z.string(), namespace: z.string() }),
    spec: z.object({
      autoScaling: z.object({ minReplicas: z.number().int(), maxReplicas: z.number().int() }),
      resources: z.object({ cpu: z.string(), memory: z.string() }),
      imagePullSecretName: z.string().nullable(),
      envFromSecretNames: z.array(z.string()),
      maxSessionDurationSeconds: z.number().int(),
    }),
  }),
});

const AgentCondition = z.object({
  type: z.enum(['Degraded', 'Progressing']),
  status: z.enum(['True', 'False']),
  reason: z.string(),
  message: z.string(),
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
    websocketAuth: z.enum(['none', 'token']),
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
  summary: 'Look an agent up: what serves, how many instances, what is wrong',
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
