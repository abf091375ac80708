// Modules that `botcli` needs before it loads zod also have separate entry points, such as `@bothost/contract/limits`, to keep
// `--help` fast. All other code imports from here.

export { type DeploySource, unsupportedAgentSettingMessages } from './agent-fields.ts';
export {
  type AlertKind,
  alertKinds,
  alertWindowMinutes,
  formatAlertThreshold,
  maxAlertsPerAgent,
} from './alert-kinds.ts';
export { type AuditAction, auditActions } from './audit-actions.ts';
export { isAuthorizedForOperation, type OperationCredential, type OperationGrantee } from './authorization.ts';
export {
  BackupChecksum,
  BackupManifest,
  backupConversationsParameter,
  backupEntryNames,
  backupUrlPath,
  pendingRestoreDirectoryNames,
} from './backup.ts';
export { type ApiClient, ConnectionError, createApiClient, toApiError } from './client.ts';
export { commandLinePackagePath, formatInstallCommands, serviceVersionHeader } from './command-line-package.ts';
export {
  type ConversationCounter,
  createConversationCounter,
  createResponseTimes,
} from './conversation/count-conversation.ts';
export {
  type ConversationLevel,
  conversationFileVariable,
  conversationLevelHeader,
  conversationLevels,
  conversationLimits,
  defaultConversationLevel,
  getLowerConversationLevel,
  hasConversationText,
  linesPerConversationPage,
  peakStepMs,
  recordingFileVariable,
} from './conversation/level.ts';
export { limitConversationLine } from './conversation/limit-line.ts';
export { getConversationLineKey } from './conversation/line-key.ts';
export {
  BotConversationLine,
  ConversationLine,
  type ConversationLineOf,
  type ConversationSide,
  conversationServiceRoles,
  type DropReason,
  dropReasons,
  type ResponseOrigin,
  responseStages,
  type ToolState,
  toolStates,
} from './conversation/lines.ts';
export { ConversationNumbers, type ConversationUsage, type ResponseTimes } from './conversation/numbers.ts';
export {
  createRecordingPath,
  recordingContinuationParameter,
  recordingMediaType,
  recordingOperation,
} from './conversation/recording.ts';
export { describeRecordingEnd } from './conversation/recording-end.ts';
export { conversationRedactionHeader } from './conversation/redaction.ts';
export {
  type ConversationState,
  conversationStates,
  type RecordingState,
  SessionConversation,
} from './conversation/session-conversation.ts';
export { describeStorageProblem, type StorageProblem } from './conversation/storage-problem.ts';
export { createTimeout } from './create-timeout.ts';
export { checkDeployFile, type DeployFile, deployFileNames, findUnsupportedDeploySettings } from './deploy-file.ts';
export { isEnvFile } from './env-file-name.ts';
export {
  ApiError,
  apiErrorDefinitions,
  createApiError,
  createErrorBody,
  createFieldError,
  type ErrorReason,
  ErrorResponse,
  type ValidationIssue,
} from './errors.ts';
export { explainSessionEnd, nameSessionEnd } from './explain-session-end.ts';
export { findClosestWord } from './find-closest-word.ts';
export { findOrCreateBuild, followBuild, splitBuildError } from './find-or-create-build.ts';
export { formatBytes } from './format-bytes.ts';
export { formatCount } from './format-count.ts';
export { IceServer, type IceUrl, iceServersHeader, needsTurnCredentials, parseIceUrl } from './ice-server.ts';
export { type ImageReference, parseImageReference } from './image-reference.ts';
export { getObjectFields } from './json-object.ts';
export { JsonText } from './json-text.ts';
export { apiKeyPrefixes, checkApiKeyFormat, generateApiKey } from './keys.ts';
export {
  type AgentProfileName,
  accountCredentialLifetimeSeconds,
  agentProfileResources,
  carrierMessageBufferLimits,
  carrierStartMessageLimits,
  defaultAgentProfile,
  defaultServerPort,
  deploymentFileLimits,
  findReservedSecretKeyProblem,
  imagePullSecretCheckRateLimit,
  instanceCountLimits,
  instanceStartTimeoutSeconds,
  isReservedSecretKey,
  type LogLevel,
  logLevels,
  maxCarrierMessageBytes,
  maxListedSessions,
  maxProxyBodyBytes,
  maxProxyReadinessWaitSeconds,
  maxRequestBodyBytes,
  maxSecretSetsPerOrganization,
  maxSecretValueBytes,
  maxSessionStartWaitSeconds,
  maxStartBodyBytes,
  maxUnusedUploads,
  maxUploadBytes,
  refusedCallRateLimit,
  resourceNameLengthLimits,
  resourceNamePattern,
  retryAfterHeaderSeconds,
  secretSetKeyPattern,
  secretSetKeyRule,
  secretSetLimits,
  secretSetNamePattern,
  secretSetNameRule,
  secretWriteDryRunRateLimit,
  secretWriteQueueLimits,
  secretWriteRateLimit,
  sessionDurationLimitsSeconds,
  socketTokenLifetimeSeconds,
  surplusInstanceIdleSeconds,
  timeSeriesPointLimits,
  unpackedArchiveLimits,
  uploadUrlLifetimeSeconds,
  userAccountLimits,
  webhookLimits,
} from './limits.ts';
export { groupLogEntries, type LogEntry, parseLogLevelAndMessage } from './log-text.ts';
export { openApiDocument } from './openapi.ts';
export { type Operation, operationMethods, type RequestOf, type ResponseOf } from './operation.ts';
export { type PersonalToken, pipecatCliClientId, type User } from './operations/account.ts';
export type { AgentDetails, AgentListItem, AgentSettings, DeployedAgent } from './operations/agents.ts';
export type { Alert } from './operations/alerts.ts';
export {
  type AllOperations,
  allOperations,
  type OperationName,
  type Operations,
  operations,
} from './operations/all.ts';
export type { AuditEntry, AuditVerification } from './operations/audit.ts';
export { ArchiveUploadResponse, type Build, uploadUrlPathTemplate } from './operations/builds.ts';
export type {
  DeploymentDetails,
  DeploymentFile,
  DeploymentProblem,
  ImageErrorCode,
  ImageLayer,
  PinnedSecretSet,
} from './operations/deployments.ts';
export type { ApiKey } from './operations/keys.ts';
export type { LogInterval, LogLine } from './operations/logs.ts';
export type { Invitation, Member } from './operations/members.ts';
export type { InstallationCheck, VaultStatus, VaultTask } from './operations/operator.ts';
export type { AttentionItem, Overview } from './operations/overview.ts';
export type { AnswerUrl, PhoneCall, PhoneConnection } from './operations/phone.ts';
export type { PipecatCloudOperations } from './operations/pipecat-cloud/all.ts';
export { unsupportedPipecatCloudOperations } from './operations/pipecat-cloud/not-offered.ts';
export type { RoomConnection } from './operations/rooms.ts';
export type { PutSecretsRequest, SecretWriteResult } from './operations/secret-writes.ts';
export type {
  ImagePullSecretCheck,
  ImagePullSecretVerification,
  SecretRevision,
  SecretSetDetails,
  SecretSetListItem,
} from './operations/secrets.ts';
export type { SessionEvent, SessionEventOfThisVersion } from './operations/session-events.ts';
export {
  BotReportedStatus,
  type ListedConversation,
  type OrganizationSession,
  type ResourceMetrics,
  type SessionCompletionStatus,
  type SessionResponse,
  type SessionSummary,
  type StartPhaseDurations,
} from './operations/sessions.ts';
export { proxyHttpMethods, type StartResponse } from './operations/start.ts';
export {
  type DeploymentStatistics,
  maxGroupedSessions,
  type SessionFigures,
  type SessionProblem,
  type Statistics,
  type StatisticsPeriod,
  type StatisticsPoint,
  statisticsPeriods,
} from './operations/statistics.ts';
export type { Webhook, WebhookDelivery } from './operations/webhooks.ts';
export {
  apiBasePath,
  createAnswerPath,
  createDialinPath,
  createTalkPagePath,
  fillPathTemplate,
  getWebSocketBasePath,
  iceServersPath,
  listOperationPaths,
  openApiPath,
  operatorBasePath,
  organizationBasePath,
  publicApiBasePath,
  publishedEventsPath,
  sessionCookieName,
  talkPageBasePath,
  webhookBasePath,
  webSocketProbePath,
} from './paths.ts';
export { parsePeriodSeconds } from './period.ts';
export {
  isPhoneCarrier,
  type PhoneCarrier,
  phoneCarriers,
  phoneCarrierTraits,
} from './phone-carriers.ts';
export { formatPullProgress } from './pull-progress.ts';
export {
  imageRepositorySegmentPattern,
  isBasicAuthCredentials,
  isUnencryptedRegistry,
  normalizeRegistryHost,
} from './registry-host.ts';
export { replaceBracketsWithParentheses } from './replace-brackets-with-parentheses.ts';
export { ResourceName } from './resource-name.ts';
export { type Role, roles } from './roles.ts';
export { isRoomTransport, KeyedRoomProvider, RoomTransport } from './room-transport.ts';
export { countUtf8Bytes, findSecretValueProblems, SecretSetName } from './secret-fields.ts';
export {
  describeSessionEventCause,
  findBotFailure,
  isEventOfThisVersion,
  readLastOutput,
} from './session-event-cause.ts';
export { quoteShellWord } from './shell-word.ts';
export {
  type AgentStatus,
  type BuildStatus,
  botStateLabels,
  buildStatusLabels,
  conditionReasonLabels,
  type DeploymentPhase,
  type DeploymentState,
  deploymentPhaseLabels,
  deploymentStateLabels,
  findStatusEntry,
  getAgentStatus,
  getSessionCompletionStatusLabel,
  getStatusLabel,
  type ImagePullSecretCheckResult,
  imagePullSecretCheckResultLabels,
  lastDeployLabels,
  listStatusValues,
  type SecretSetReadiness,
  type ServiceDefinedCompletionStatus,
  type SessionEndState,
  type SessionEventCode,
  secretSetReadinessLabels,
  servingLabels,
  sessionCompletionStatusLabels,
  sessionEndStateLabels,
  sessionEventLabels,
  type VaultTaskState,
  vaultTaskStateLabels,
} from './statuses.ts';
export { type AcceptedDeployment, fetchAgentDetails, submitDeployment } from './submit-deployment.ts';
export { initialUploadPartSizeBytes } from './upload-part.ts';
export { uploadRemainingParts } from './upload-remaining-parts.ts';
export { type WebhookEvent, webhookEvents } from './webhook-events.ts';
export { isTransientError, requestRetryDelaysMs, withRetries } from './with-retries.ts';
