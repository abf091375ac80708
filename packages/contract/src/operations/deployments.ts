import { z } from 'zod';
import { WebsocketAuth } from '../agent-fields.ts';
import { operation } from '../operation.ts';
import { deploymentStateLabels, statusValues } from '../statuses.ts';
import { AgentPath, Id, noBody, none, Paging, Time } from './fields.ts';

/** A deployment as agents show it (cloud API 5.3). */
export const Deployment = z.object({
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
  buildId: Id.nullable().describe('The build that it runs; null for a directory of the service'),
});

/** Why a deployment does not serve, or its instances do not start; in the style of cloud API 4.2. */
const DeploymentProblem = z.enum([
  'PCC_PREPARE_FAILED',
  'PCC_BOT_EXITED',
  'PCC_BOT_START_TIMEOUT',
  'PCC_OUT_OF_MEMORY',
  'PCC_SECRETS_UNAVAILABLE',
  'PCC_SUPERSEDED',
  'PCC_UNKNOWN_ERROR',
]);
export type DeploymentProblem = z.infer<typeof DeploymentProblem>;

const failedExit = z.object({
  code: DeploymentProblem,
  message: z.string(),
  exitCode: z.number().int().nullable().describe('Null when the bot did not exit by itself'),
  signal: z.string().nullable(),
  outOfMemory: z.boolean(),
  tail: z.string().describe('The last lines that the bot wrote, at most 4 KiB'),
});

/** A secret set, as a deployment runs with it. */
export const PinnedSecretSet = z
  .object({
    secretSet: z.string(),
    revision: z.number().int().describe('What it runs with, as long as it is'),
    newestRevision: z.number().int().nullable().describe('Null: the set was deleted'),
    stale: z.boolean().describe('It is not the newest one: the next deploy takes that'),
  })
  .meta({ id: 'PinnedSecretSet' });
export type PinnedSecretSet = z.infer<typeof PinnedSecretSet>;

/** One version of an agent, with how it went. Its source and settings never change; only scaling may. */
const DeploymentDetails = Deployment.extend({
  state: z
    .enum(statusValues(deploymentStateLabels))
    .describe('validating: its first instance is starting; only a ready deployment serves sessions'),
  serving: z.boolean().describe('New sessions run on it'),
  contentHash: z.string().describe('Of what it runs: two deployments of the same content have the same'),
  agentProfile: z.string(),
  websocketAuth: WebsocketAuth,
  activatedAt: Time.nullable().describe('When it began to take traffic'),
  rolledBackFrom: Id.nullable().describe('The deployment that this one repeats, after a rollback'),
  createdByKeyId: Id.nullable().describe('Null for one that the service made from a directory'),
  secretRevisions: z.array(PinnedSecretSet),
  activeSessionCount: z.number().int(),
  failure: failedExit.nullable(),
}).meta({ id: 'DeploymentDetails' });
export type DeploymentDetails = z.infer<typeof DeploymentDetails>;

const DeploymentPath = AgentPath.extend({ deploymentId: z.string() });

export const listDeployments = operation({
  name: 'listDeployments',
  summary: 'List the deployments of an agent, newest first',
  tag: 'agents',
  key: 'private',
  method: 'GET',
  path: '/agents/{agentName}/deployments',
  params: AgentPath,
  query: z.object(Paging),
  body: noBody,
  bodyBytes: 0,
  status: 200,
  response: z.object({
    total_count: z.number().int(),
    deployments: z.array(DeploymentDetails),
    nextCursor: z.string().nullable(),
  }),
  errors: ['invalid-request', 'not-found'],
});

export const getDeployment = operation({
  name: 'getDeployment',
  summary: 'Get a deployment',
  tag: 'agents',
  key: 'private',
  method: 'GET',
  path: '/agents/{agentName}/deployments/{deploymentId}',
  params: DeploymentPath,
  query: none,
  body: noBody,
  bodyBytes: 0,
  status: 200,
  response: DeploymentDetails,
  errors: ['not-found', 'deployment-not-found'],
});
