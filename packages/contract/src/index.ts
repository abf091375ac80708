// Modules that `botcli` needs before it loads zod also have separate entry points, such as `@bothost/contract/limits`, to keep
// `--help` fast. All other code imports from here.

export { unsupportedSettings } from './agent-fields.ts';
export { authorization, type Grantee, isAuthorized } from './authorization.ts';
export {
  BackupEnd,
  BackupManifest,
  backupEntries,
  backupPath,
  restoreDirectories,
} from './backup.ts';
export { type Carrier, carriers } from './carriers.ts';
export { type Client, ConnectionError, createClient, toApiError } from './client.ts';
export { checkDeployFile, type DeployFile, deployFileNames, findUnsupported } from './deploy-file.ts';
export { ApiError, ErrorResponse, errorBody, failure, failures, type Issue, type Reason } from './errors.ts';
export { formatBytes } from './format-bytes.ts';
export { inspectKey, keyPrefixes, makeKey } from './keys.ts';
export {
  accountSeconds,
  callOpeningLimits,
  defaultPort,
  defaultProfile,
  heldCallLimits,
  instanceLimits,
  isReservedSecretKey,
  type LogLevel,
  logLevels,
  maxCarrierMessageBytes,
  maxProxyBodyBytes,
  maxRequestBodyBytes,
  maxSecretSetsPerOrganization,
  maxSecretValueBytes,
  maxStartBodyBytes,
  maxUnusedUploads,
  maxUploadBytes,
  nameLength,
  namePattern,
  type ProfileName,
  profiles,
  proxyHoldSeconds,
  pullSecretCheckRate,
  queuedSecretWriteLimits,
  reservedKeyProblem,
  reservedNames,
  retryAfterSeconds,
  secretDryRunRate,
  secretKeyPattern,
  secretSetLimits,
  secretSetNamePattern,
  secretWriteRate,
  sessionSeconds,
  sessionsAtMost,
  socketTokenSeconds,
  startDeadlineSeconds,
  startWaitSeconds,
  surplusIdleSeconds,
  timeSeriesPoints,
  unpackedArchiveLimits,
  uploadUrlSeconds,
  userLimits,
} from './limits.ts';
export { parseLogText } from './log-text.ts';
export { openApiDocument } from './openapi.ts';
export type { Credential, Operation, RequestOf, ResponseOf } from './operation.ts';
export { type PersonalToken, pipecatCliId, type User } from './operations/account.ts';
export type { AgentDetails, AgentListItem, AgentSettings, DeployedAgent } from './operations/agents.ts';
export {
  type AllOperations,
  allOperations,
  type OperationName,
  type Operations,
  operations,
} from './operations/all.ts';
export type { AuditEntry, AuditVerification } from './operations/audit.ts';
export { type Build, UploadResponse, uploadPath } from './operations/builds.ts';
export type { DeploymentDetails, DeploymentProblem, PinnedSecretSet } from './operations/deployments.ts';
export type { ApiKey } from './operations/keys.ts';
export type { LogLine } from './operations/logs.ts';
export type { Invitation, Member } from './operations/members.ts';
export type { VaultStatus, VaultTask } from './operations/operator.ts';
export type { Attention, Overview } from './operations/overview.ts';
export type { PipecatCloudOperations } from './operations/pipecat-cloud/all.ts';
export { notOfferedOperations } from './operations/pipecat-cloud/not-offered.ts';
export type { PutSecretsRequest, WrittenSecrets } from './operations/secret-writes.ts';
export type {
  CheckedPullSecret,
  PullSecretCheck,
  SecretRevision,
  SecretSetDetails,
  SecretSetListItem,
} from './operations/secrets.ts';
export {
  type CompletionStatus,
  type OrganizationSession,
  ReportedStatus,
  type ResourceMetrics,
  type SessionEvent,
  type SessionResponse,
  type SessionSummary,
  type StartPhases,
} from './operations/sessions.ts';
export { proxyMethods, type StartResponse, type Transport } from './operations/start.ts';
export {
  apiBase,
  fillPath,
  iceServersPath,
  operatorBase,
  organizationBase,
  pathsOf,
  publicBase,
  sessionCookie,
  socketPath,
  talkBase,
  talkPath,
} from './paths.ts';
export {
  canonicalRegistry,
  imagePathPartPattern,
  isEncodedCredentials,
  isUnencryptedRegistry,
} from './registry-host.ts';
export { type Role, roles } from './roles.ts';
export { countUtf8Bytes, SecretSetName, secretValueProblems } from './secret-fields.ts';
export {
  type BuildStatus,
  botStateLabels,
  buildStatusLabels,
  completionStatusLabel,
  completionStatusLabels,
  type DeploymentPhase,
  type DeploymentState,
  deploymentPhaseLabels,
  deploymentStateLabels,
  type EndState,
  endStateLabels,
  type KnownCompletionStatus,
  type PullSecretResult,
  pullSecretResultLabels,
  type SecretReadiness,
  type SessionEventCode,
  secretReadinessLabels,
  sessionEventLabels,
  statusLabel,
  statusValues,
  type VaultTaskState,
  vaultTaskStateLabels,
} from './statuses.ts';
export { findClosest } from './suggest.ts';
export {
  canResumeUpload,
  initialPartBytes,
  isTransient,
  nextPartBytes,
  retryDelaysMs,
  sendUploadPart,
} from './upload-part.ts';
export { withoutBrackets } from './without-brackets.ts';
