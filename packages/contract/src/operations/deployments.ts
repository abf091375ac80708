import { z } from 'zod';
import { WebsocketAuth, WebsocketStart } from '../agent-fields.ts';
import { editors, everyone } from '../authorization.ts';
import { defineOperation } from '../operation.ts';
import { deploymentStateLabels, listStatusValues } from '../statuses.ts';
import { AgentPathParameters, IsoDateTime, PagingParameters, requestWithoutBody, Uuid } from './fields.ts';

export const Deployment = z.object({
  id: Uuid,
  serviceId: Uuid,
  createdAt: IsoDateTime,
  updatedAt: IsoDateTime,
  manifest: z.object({
    apiVersion: z.string(),
    kind: z.string(),
    metadata: z.object({ name: z.string(), namespace: z.string() }),
    spec: z.object({
      autoScaling: z.object({ minReplicas: z.number().int(), maxReplicas: z.number().int() }),
      resources: z.object({ cpu: z.string(), memory: z.string() }),
      image: z.string().optional().describe('Missing if the deployment does not run an image'),
      imagePullSecretName: z.string().nullable(),
      envFromSecretNames: z.array(z.string()),
      maxSessionDurationSeconds: z.number().int(),
    }),
  }),
  buildId: Uuid.nullable().describe('Null for an image, and for a directory of the service'),
});

/** The layer of an image that is being pulled. */
const ImageLayer = z.object({
  id: z.string().describe('The first digits of the digest of the layer'),
  state: z.enum(['waiting', 'downloading', 'extracting', 'complete']),
  bytes: z.number().int(),
  totalBytes: z.number().int().nullable().describe('Null until the registry has reported the size'),
});
export type ImageLayer = z.infer<typeof ImageLayer>;

const DeployedImage = z.object({
  reference: z.string().describe('With the registry, and the tag or digest that was deployed'),
  digest: z.string().nullable().describe('The digest that was pulled, and that all instances run. Null until then'),
  pullSecret: z.string().nullable().describe('The image pull secret whose newest revision each pull uses'),
  pulling: z.array(ImageLayer).nullable().describe('Progress of the pull while it runs'),
});

const imageErrorCodes = [
  'PCC_IMAGE_NOT_FOUND',
  'PCC_IMAGE_PULL_UNAUTHORIZED',
  'PCC_IMAGE_PULL_RATE_LIMIT',
  'PCC_IMAGE_TOO_LARGE',
  'PCC_INVALID_IMAGE_PLATFORM',
  'PCC_IMAGE_PULL_UNKNOWN_ERROR',
] as const;
/** Error codes of images, which clients of Pipecat Cloud know. */
export type ImageErrorCode = (typeof imageErrorCodes)[number];

/** The reason why a deployment failed, or why its instances do not start. */
const DeploymentProblem = z.enum([
  'PCC_PREPARE_FAILED',
  'PCC_BOT_EXITED',
  'PCC_BOT_START_TIMEOUT',
  'PCC_OUT_OF_MEMORY',
  'PCC_SECRETS_UNAVAILABLE',
  ...imageErrorCodes,
  'PCC_SUPERSEDED',
  'PCC_SOURCE_NOT_ACCEPTED',
  'PCC_UNKNOWN_ERROR',
]);
export type DeploymentProblem = z.infer<typeof DeploymentProblem>;

const failedExit = z.object({
  code: DeploymentProblem,
  message: z.string(),
  exitCode: z.number().int().nullable().describe('Null if a signal ended the bot'),
  signal: z.string().nullable(),
  outOfMemory: z.boolean(),
  tail: z.string().describe('The end of the output of the bot, at most 4 KiB'),
});

/** A secret set and the revision that a deployment uses. */
export const PinnedSecretSet = z
  .object({
    secretSet: z.string(),
    revision: z.number().int().describe('The revision that the deployment uses'),
    newestRevision: z.number().int().nullable().describe('Null if the set was deleted'),
    stale: z.boolean().describe('Whether there is a newer revision, which the next deploy will use'),
  })
  .meta({ id: 'PinnedSecretSet' });
export type PinnedSecretSet = z.infer<typeof PinnedSecretSet>;

/** A deployment is one version of an agent. Only its scaling can change later. */
const DeploymentDetails = Deployment.extend({
  state: z
    .enum(listStatusValues(deploymentStateLabels))
    .describe('validating: its first instance is starting; only a ready deployment serves sessions'),
  serving: z.boolean().describe('Whether new sessions use it'),
  contentHash: z
    .string()
    .describe(
      'Hash of the files, or digest of the image, which is empty until it was pulled; the same for the same content',
    ),
  image: DeployedImage.nullable().describe('Null if the deployment does not run an image'),
  agentProfile: z.string(),
  websocketAuth: WebsocketAuth,
  websocketStart: WebsocketStart,
  fork: z.boolean().describe('Whether instances of a Python bot may be forked'),
  activatedAt: IsoDateTime.nullable().describe('When it started to serve'),
  rolledBackFrom: Uuid.nullable().describe('The deployment that a rollback repeated'),
  createdByKeyId: Uuid.nullable().describe('Null for a directory of the service'),
  createdBy: z
    .string()
    .nullish()
    .describe('E-mail address of the person, or name of the API key; null for a directory, and of earlier versions'),
  secretRevisions: z.array(PinnedSecretSet),
  activeSessionCount: z.number().int(),
  failure: failedExit.nullable(),
}).meta({ id: 'DeploymentDetails' });
export type DeploymentDetails = z.infer<typeof DeploymentDetails>;

const DeploymentPath = AgentPathParameters.extend({ deploymentId: z.string() });

const deploymentOperation = { tag: 'agents', key: 'private' } as const;

export const listDeployments = defineOperation({
  ...requestWithoutBody,
  ...deploymentOperation,
  name: 'listDeployments',
  summary: 'List the deployments of an agent, newest first',
  grantees: everyone,
  path: '/agents/{agentName}/deployments',
  params: AgentPathParameters,
  query: z.object(PagingParameters),
  response: z.object({
    total_count: z.number().int(),
    deployments: z.array(DeploymentDetails),
    nextCursor: z.string().nullable(),
  }),
  errors: ['invalid-request', 'not-found'],
});

export const getDeployment = defineOperation({
  ...requestWithoutBody,
  ...deploymentOperation,
  name: 'getDeployment',
  summary: 'Get a deployment',
  grantees: everyone,
  path: '/agents/{agentName}/deployments/{deploymentId}',
  params: DeploymentPath,
  response: DeploymentDetails,
  errors: ['not-found', 'deployment-not-found'],
});

export const getRollbackTarget = defineOperation({
  ...requestWithoutBody,
  ...deploymentOperation,
  name: 'getRollbackTarget',
  summary: 'Get the deployment that a rollback repeats by default',
  grantees: everyone,
  path: '/agents/{agentName}/rollback',
  params: AgentPathParameters,
  response: DeploymentDetails,
  errors: ['not-found', 'no-earlier-deployment'],
});

/** A file of the project that a deployment runs. The content of a symbolic link is its target. */
const DeploymentFile = z.object({
  path: z.string(),
  sizeBytes: z.number().int(),
  sha256: z.string().describe('In hexadecimal'),
});
export type DeploymentFile = z.infer<typeof DeploymentFile>;

/** The files never change, so two deployments can be compared by path and hash. `.env` files are left out, as in a build. */
export const listDeploymentFiles = defineOperation({
  ...requestWithoutBody,
  ...deploymentOperation,
  name: 'listDeploymentFiles',
  summary: 'List the files of a deployment',
  grantees: everyone,
  path: '/agents/{agentName}/deployments/{deploymentId}/files',
  params: DeploymentPath,
  response: z.object({ files: z.array(DeploymentFile) }),
  errors: ['not-found', 'deployment-not-found', 'deployment-files-unavailable', 'shutting-down'],
});

export const getDeploymentFile = defineOperation({
  ...requestWithoutBody,
  ...deploymentOperation,
  name: 'getDeploymentFile',
  summary: 'Read a text file of a deployment',
  grantees: editors,
  path: '/agents/{agentName}/deployments/{deploymentId}/file',
  params: DeploymentPath,
  query: z.object({ path: z.string() }),
  response: z.object({
    path: z.string(),
    text: z.string().nullable().describe('Null if the content is omitted'),
    omitted: z.enum(['binary', 'too-large']).nullable().describe('Why the content is omitted'),
  }),
  errors: [
    'invalid-request',
    'not-found',
    'deployment-not-found',
    'deployment-files-unavailable',
    'deployment-file-not-found',
    'shutting-down',
  ],
});
