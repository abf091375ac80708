import { randomBytes } from 'node:crypto';
import {
  type AgentDetails,
  type AgentListItem,
  type Alert,
  type ApiKey,
  type Build,
  type DeploymentDetails,
  generateApiKey,
  type Member,
  type SecretSetListItem,
  type SessionResponse,
  type Webhook,
  type WebhookDelivery,
} from '@bothost/contract';

/** Valid API records that tests can vary. */

export const privateKey = generateApiKey('private', randomBytes(128));
/** `privateKey` with another last character, so that its checksum is wrong. */
export const mistypedKey = privateKey.slice(0, -1) + (privateKey.endsWith('0') ? '1' : '0');
export const personalToken = generateApiKey('personal', randomBytes(128));
export const publicKey = generateApiKey('public', randomBytes(128));
export const organization = { id: '01930000-0000-7000-8000-000000000001', name: 'acme', verboseName: 'Acme Inc.' };
/** The token of the operator's commands. */
export const operatorToken = 'ab'.repeat(32);
export const sessionId = '01930000-0000-7000-8000-00000000000a';
const deploymentId = '01930000-0000-7000-8000-000000000003';
const created = '2026-11-20T16:00:00.000Z';

export const agentListItem: AgentListItem = {
  id: '01930000-0000-7000-8000-000000000002',
  name: 'parrot',
  region: 'us-west',
  organizationId: organization.id,
  desiredDeploymentId: deploymentId,
  reconciledDeploymentId: deploymentId,
  activeDeploymentId: deploymentId,
  createdAt: created,
  updatedAt: created,
  deletedAt: null,
  secretSets: [],
};

export const agent: AgentDetails = {
  id: agentListItem.id,
  name: 'parrot',
  organizationId: organization.id,
  region: 'us-west',
  createdAt: created,
  updatedAt: created,
  ready: true,
  available: true,
  activeDeploymentReady: true,
  desiredDeploymentId: deploymentId,
  reconciledDeploymentId: deploymentId,
  activeDeploymentId: deploymentId,
  autoScaling: { minReplicas: 1, maxReplicas: 5 },
  activeSessionCount: 2,
  idleInstanceCount: 1,
  startingInstanceCount: 0,
  agentProfile: 'agent-1x',
  maxSessionDuration: 7_200,
  websocketAuth: 'token',
  transports: null,
  conversation: { level: 'timings', maximumLevel: 'transcript' },
  secretSets: [],
  krispViva: null,
  deployment: {
    id: deploymentId,
    serviceId: agentListItem.id,
    createdAt: created,
    updatedAt: created,
    manifest: {
      apiVersion: 'v1',
      kind: 'Agent',
      metadata: { name: 'parrot', namespace: 'acme' },
      spec: {
        autoScaling: { minReplicas: 1, maxReplicas: 5 },
        resources: { cpu: '500m', memory: '1Gi' },
        imagePullSecretName: null,
        envFromSecretNames: [],
        maxSessionDurationSeconds: 7_200,
      },
    },
    buildId: null,
  },
  currentRevision: null,
  previousRevision: null,
  errors: [],
  conditions: [],
};

export const deployment: DeploymentDetails = {
  ...agent.deployment,
  buildId: '01930000-0000-7000-8000-00000000000c',
  state: 'ready',
  serving: true,
  contentHash: '0'.repeat(64),
  image: null,
  agentProfile: 'agent-1x',
  websocketAuth: 'token',
  websocketStart: 'full',
  fork: true,
  activatedAt: created,
  rolledBackFrom: null,
  createdByKeyId: null,
  secretRevisions: [],
  activeSessionCount: 0,
  failure: null,
};

export const successfulBuild: Build = {
  id: '01930000-0000-7000-8000-00000000000c',
  organizationId: organization.id,
  status: 'success',
  region: 'us-west',
  contextHash: '0'.repeat(16),
  contentHash: '0'.repeat(64),
  dockerfilePath: 'Dockerfile',
  imageUri: null,
  logsUrl: null,
  errorMessage: null,
  errorCode: null,
  contextSizeBytes: 2_048,
  imageSizeBytes: null,
  buildDurationSeconds: 1.5,
  startedAt: created,
  completedAt: created,
  createdAt: created,
  updatedAt: created,
};

export const apiKey: ApiKey = {
  id: '01930000-0000-7000-8000-000000000004',
  name: 'first',
  kind: 'private',
  start: 'sk_1234',
  key: null,
  createdAt: created,
  expiresAt: null,
  lastUsedAt: null,
  revokedAt: null,
};

export const member: Member = {
  userId: '01930000-0000-7000-8000-00000000000d',
  email: 'ada@example.com',
  name: 'Ada',
  role: 'owner',
  joinedAt: created,
};

export const session: SessionResponse = {
  sessionId,
  serviceId: agentListItem.id,
  organizationId: organization.id,
  deploymentId,
  createdAt: created,
  updatedAt: '2026-11-20T16:01:05.000Z',
  endedAt: '2026-11-20T16:01:05.000Z',
  botStartSeconds: 2,
  botStartMilliseconds: 1_834,
  coldStart: true,
  completionStatus: 'HTTP_ERROR',
  endState: 'agent_error',
  meetingIds: [],
  events: [
    {
      eventCode: 'INSTANCE_CPU_LIMIT_NOT_ENFORCED',
      eventTs: created,
      detail: { detail: 'This machine does not let the service limit the CPU use of bots.' },
    },
    {
      eventCode: 'INSTANCE_EXITED',
      eventTs: '2026-11-20T16:01:05.000Z',
      detail: { code: 3, signal: null, outOfMemory: false, tail: 'Error: no\n\u001b[2Jat bot' },
    },
  ],
  startPhases: {
    claim: 4.25,
    boot: 812.4,
    dispatch: 9.9,
    botCalled: 1_840,
    transportConnected: 2_300,
    firstFrame: 11_720,
  },
  readsUsage: true,
  resourceMetrics: {
    id: '01930000-0000-7000-8000-00000000000b',
    sessionId,
    sampleCount: 65,
    cpuMillicoresP50: 120,
    cpuMillicoresP90: 300,
    cpuMillicoresP95: 400,
    cpuMillicoresP99: 480,
    memoryBytesP50: 104_857_600,
    memoryBytesP90: 110_000_000,
    memoryBytesP95: 110_000_000,
    memoryBytesP99: 209_715_200,
    timeseries: [
      { t: 1_763_654_400, c: 0, m: 100_000_000 },
      { t: 1_763_654_405, c: 250, m: 150_000_000 },
      { t: 1_763_654_410, c: 500, m: 209_715_200 },
    ],
    eventTs: '2026-11-20T16:01:05.000Z',
    createdAt: created,
  },
};

export const sessionSummary = (({
  resourceMetrics: _,
  readsUsage: _____,
  meetingIds: __,
  events: ___,
  startPhases: ____,
  ...rest
}) => ({
  ...rest,
  conversation: null,
}))(session);

export const secretSet: SecretSetListItem = {
  name: 'keys',
  type: 'secret',
  region: 'us-west',
  status: 'ready',
  revision: 1,
  createdAt: created,
  updatedAt: created,
  keyCount: 2,
  host: null,
  expiresAt: null,
  verification: null,
};

export const webhook: Webhook = {
  id: '01930000-0000-7000-8000-0000000000f1',
  url: 'https://hooks.example/bothost',
  description: 'pager',
  events: ['session.ended', 'session.failed'],
  enabled: true,
  createdAt: created,
  updatedAt: created,
};

export const webhookDelivery: WebhookDelivery = {
  eventId: '01930000-0000-7000-8000-0000000000f2',
  event: 'session.failed',
  state: 'delivered',
  payload: '{}',
  createdAt: created,
  attempts: 1,
  attemptedAt: created,
  nextAttemptAt: null,
  durationMs: 12,
  responseStatus: 200,
  responseBody: 'ok',
  error: null,
};

export const alert: Alert = {
  id: '01930000-0000-7000-8000-0000000000f3',
  agentName: 'parrot',
  kind: 'failed_sessions',
  threshold: 3,
  windowMinutes: 15,
  createdAt: created,
  incident: null,
};
