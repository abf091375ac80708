export { unsupportedSettings } from './agent-fields.ts';
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
export { inspectKey, keyPrefixes, makeKey } from './keys.ts';
export {
  agentInstances,
  callOpening,
  carrierMessageBytes,
  defaultProfile,
  heldCall,
  nameLength,
  namePattern,
  type ProfileName,
  profiles,
  proxyBodyBytes,
  proxyHoldSeconds,
  pullSecretChecks,
  requestBodyBytes,
  reservedKeyProblem,
  reservedNames,
  reservedSecretKey,
  retryAfterSeconds,
  secretDryRuns,
  secretKeyPattern,
  secretSetLimits,
  secretSetNamePattern,
  secretSetsPerOrganization,
  secretValueBytes,
  secretWrites,
  seriesPoints,
  sessionSeconds,
  socketTokenSeconds,
  startBodyBytes,
  startDeadlineSeconds,
  startWaitSeconds,
  unpackedArchiveLimits,
  unusedUploads,
  uploadBytes,
  uploadUrlSeconds,
  waitingSecretWrites,
  warmSurplusSeconds,
} from './limits.ts';
export { openApiDocument } from './openapi.ts';
export type { Operation, RequestOf, ResponseOf } from './operation.ts';
export type { AgentDetails, AgentListItem, AgentSettings, DeployedAgent } from './operations/agents.ts';
export { type OperationName, type Operations, operations } from './operations/all.ts';
export type { AuditEntry, AuditVerification } from './operations/audit.ts';
export { type Build, UploadResponse, uploadPath } from './operations/builds.ts';
export type { DeploymentDetails, DeploymentProblem, PinnedSecretSet } from './operations/deployments.ts';
export type { ApiKey } from './operations/keys.ts';
export { type LogLevel, type LogLine, logLevels } from './operations/logs.ts';
export type { VaultStatus, VaultTask } from './operations/operator.ts';
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
  ReportedStatus,
  type ResourceMetrics,
  type SessionEvent,
  type SessionResponse,
  type SessionSummary,
  type StartPhases,
} from './operations/sessions.ts';
export { proxyMethods, type StartResponse, type Transport } from './operations/start.ts';
export { apiBase, fillPath, iceServersPath, operatorBase, pathsOf, publicBase } from './paths.ts';
export { canonicalRegistry, imagePathPart, isEncodedCredentials, isPlainRegistry } from './registry-host.ts';
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
