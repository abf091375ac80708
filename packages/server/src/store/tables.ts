import type {
  AgentProfileName,
  AlertKind,
  BuildStatus,
  ConversationLevel,
  ConversationNumbers,
  DeploymentProblem,
  DeploymentState,
  DeploySource,
  ImageLayer,
  ImagePullSecretCheckResult,
  PhoneCarrier,
  Role,
  RoomTransport,
  SecretSetReadiness,
  SessionCompletionStatus,
  SessionEventOfThisVersion,
  VaultTaskState,
  WebhookEvent,
} from '@bothost/contract';
import type { ColumnType, Generated, JSONColumnType, Kysely } from 'kysely';

/** Times are `timestamptz`, ids are UUIDs of version 7. A feature writes only its own tables, but may join others. */
export type Tables = {
  organizations: OrganizationsTable;
  api_keys: ApiKeysTable;
  hosts: HostsTable;
  agents: AgentsTable;
  deployments: DeploymentsTable;
  instances: InstancesTable;
  sessions: SessionsTable;
  session_samples: SessionSamplesTable;
  session_metrics: SessionMetricsTable;
  session_conversations: SessionConversationsTable;
  session_rooms: SessionRoomsTable;
  session_statistics: SessionStatisticsTable;
  instance_logs: InstanceLogsTable;
  uploads: UploadsTable;
  builds: BuildsTable;
  build_log_lines: BuildLogLinesTable;
  vault_state: VaultStateTable;
  vault_keys: VaultKeysTable;
  vault_tasks: VaultTasksTable;
  secret_sets: SecretSetsTable;
  secret_revisions: SecretRevisionsTable;
  secret_values: SecretValuesTable;
  secret_deliveries: SecretDeliveriesTable;
  provider_keys: ProviderKeysTable;
  pull_secret_checks: PullSecretChecksTable;
  refused_calls: RefusedCallsTable;
  past_calls: PastCallsTable;
  audit_events: AuditEventsTable;
  users: UsersTable;
  user_sessions: UserSessionsTable;
  user_credentials: UserCredentialsTable;
  auth_verifications: AuthVerificationsTable;
  device_logins: DeviceLoginsTable;
  personal_tokens: PersonalTokensTable;
  organization_members: OrganizationMembersTable;
  one_time_links: OneTimeLinksTable;
  rate_limits: RateLimitsTable;
  webhooks: WebhooksTable;
  webhook_deliveries: WebhookDeliveriesTable;
  alerts: AlertsTable;
};

export type OrganizationsTable = {
  id: string;
  name: string;
  verbose_name: string;
  default_region: string;
  created_at: Date;
  /** A deleted organization keeps its records, and gets its id as its name, so that the name can be used again. */
  deleted_at: Generated<Date | null>;
  viewers_can_start_sessions: Generated<boolean>;
};

export type ApiKeysTable = {
  id: string;
  organization_id: string;
  kind: 'private' | 'public';
  name: string;
  /** The first characters of the key, by which people recognize it. */
  start: string;
  /** SHA-256 of the key. Keys are random, so a slow hash would add no security. */
  hash: Buffer;
  /** A public key in plain text. Null for a private key, and for a public key of an earlier version until it is used. */
  public_key: string | null;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
  revoked_at: Date | null;
};

/** The host of a region's instances. The process driver treats each data directory as a host. */
export type HostsTable = {
  id: string;
  region: string;
  runtime: string;
  /** What an agent of the region is deployed from. */
  accepts: Generated<DeploySource>;
  /** Whether the server that started last reads the CPU and memory of sessions. */
  reads_usage: Generated<boolean>;
  /** For operators: the process id, machine name and data directory of the server that started last in this region. */
  description: string;
  heartbeat_at: Date;
};

export type AgentsTable = {
  id: string;
  organization_id: string;
  name: string;
  region: string;
  desired_deployment_id: string | null;
  active_deployment_id: string | null;
  /** What is kept of the conversations of new sessions. Not a setting of a deployment, so that a rollback keeps it. */
  conversation_level: Generated<ConversationLevel>;
  /** What bots remove from the texts of new sessions: the rules of `ConversationRedaction`. */
  conversation_redact: JSONColumnType<string[], string | undefined, string>;
  /** How often the secrets in the URLs at which vendors announce calls were replaced. */
  url_secret_version: Generated<number>;
  created_at: Date;
  updated_at: Date;
  deleted_at: Date | null;
};

export type DeploymentCodeSource =
  | { kind: 'directory'; path: string; contentHash: string }
  | { kind: 'build'; buildId: string; contentHash: string }
  /** `reference` is the normalized text of `parseImageReference`. */
  | { kind: 'image'; reference: string };

export type StoredInstanceExit = {
  /** Missing in rows of earlier versions. */
  reason?: 'exited' | 'out-of-memory' | 'disk' | 'platform' | 'unknown' | undefined;
  code: number | null;
  signal: string | null;
  outOfMemory: boolean;
  tail: string;
  diskLimit?: string | undefined;
  platformCause?: string | undefined;
  /** The session that waited for the instance, if any. Missing in rows of earlier versions. */
  sessionId?: string | null;
};

/** A secret set's revision that a deployment uses. `secretSet` was the set's name at that time. */
export type SecretRevisionPin = { secretSet: string; setId: string; revision: number };

/** A version of an agent. Its configuration never changes, except for `min_agents` and `max_agents`. */
export type DeploymentsTable = {
  id: string;
  agent_id: string;
  source: JSONColumnType<DeploymentCodeSource>;
  /** The build whose files the deployment runs. Null if the source of the deployment is a directory. */
  build_id: string | null;
  /** While `validating`, no instance of the deployment has been ready yet. Only `ready` deployments get new sessions. */
  state: DeploymentState;
  /** When the deployment entered its current state. */
  state_at: Generated<Date>;
  /** Message to the agent's owner: why the deployment failed, or why its instances currently do not start. */
  error: string | null;
  error_code: DeploymentProblem | null;
  error_at: Date | null;
  /** Exit of the last instance that failed to start or ended by itself. Null if there was none. */
  last_exit: JSONColumnType<StoredInstanceExit> | null;
  /** Number of consecutive instances that failed to start or ended by themselves. */
  restarts: Generated<number>;
  /** The runtime's files to start instances from, which belong to the build or the deployment of a directory. */
  prepared: JSONColumnType<Record<string, string | number | boolean | null>> | null;
  /** Revisions of secret sets with which instances are started. */
  secret_pins: JSONColumnType<SecretRevisionPin[], string | undefined, string>;
  /** The digest that was pulled, or that a rollback names. Null until then, and if the source is not an image. */
  image_digest: Generated<string | null>;
  /** Name of the image pull secret. Each pull uses its newest revision. */
  image_pull_secret: Generated<string | null>;
  /** Progress of the pull while it runs. */
  image_layers: JSONColumnType<ImageLayer[] | null, string | null | undefined, string | null>;
  created_by_key_id: string | null;
  /** E-mail address of the person, or name of the API key. Null if neither is known. */
  created_by: Generated<string | null>;
  /** If a rollback created this deployment, the id of the deployment that it copied. Otherwise null. */
  rolled_back_from: string | null;
  /** `activated_at`: when the deployment started to get new sessions. `replaced_at`: when it stopped getting them. */
  activated_at: Date | null;
  replaced_at: Date | null;
  min_agents: number;
  max_agents: number;
  profile: AgentProfileName;
  max_session_seconds: number;
  websocket_auth: 'none' | 'token';
  /**
   * Whether the response to a start with the transport `websocket` has only the fields that existing WebSocket clients accept.
   */
  websocket_start: Generated<'full' | 'minimal'>;
  /** The transports that the bot accepts. Null until an instance has reported them, or a session with one has succeeded. */
  transports: JSONColumnType<string[] | null, string | undefined, string>;
  /** Whether a fork server may start the instances. */
  fork: boolean;
  created_at: Date;
  updated_at: Date;
};

export type InstanceState = 'starting' | 'ready' | 'stopping' | 'ended';

/**
 * `session_id` is the session that claimed the instance. It is set once, never changed, and unique. So each instance serves at
 * most one session, and each session has at most one instance (docs/architecture.md, Invariants).
 */
export type InstancesTable = {
  id: string;
  deployment_id: string;
  agent_id: string;
  host_id: string;
  session_id: string | null;
  state: InstanceState;
  /** Address of the instance: either a Unix socket, or host and port. See `instances/address.ts`. */
  socket: Generated<string | null>;
  host: string | null;
  port: number | null;
  /** Whether the bot supports `GET /_bot/session`. If so, a restarted server can request the state of the session. */
  reports_session: Generated<boolean>;
  /** Events of the instance that the runtime reported. They are added to the events of its session. */
  notices: ColumnType<StoredSessionEvent[], string | undefined, string>;
  created_at: Date;
  ready_at: Date | null;
  ended_at: Date | null;
};

/**
 * `waiting`: created for a WebSocket start whose client has not connected yet. `starting`: has an instance. `live`: the bot
 * accepted the session. `ending`: the cause of the end is decided (`ending_status`), and the instance is being stopped. `ended`:
 * the record is final.
 */
export type SessionState = 'waiting' | 'starting' | 'live' | 'ending' | 'ended';
export type SessionTransport = 'none' | 'webrtc' | 'websocket' | RoomTransport;

/** `text`: what the bot wrote, encrypted with the key of the conversation (`conversations/event-text.ts`), in base64. */
type Stored<Event> = Event extends SessionEventOfThisVersion
  ? { code: Event['eventCode']; at: string; detail: Event['detail']; text?: string }
  : never;
export type StoredSessionEvent = Stored<SessionEventOfThisVersion>;

export type SessionsTable = {
  id: string;
  organization_id: string;
  agent_id: string;
  deployment_id: string;
  state: SessionState;
  transport: SessionTransport;
  /** The request body as JSON text, until the session ends, so that dispatch survives a crash. Null if there is none. */
  body: string | null;
  /**
   * The phone call for which the session was created, with the id that the carrier gave it. Null for a session without a call
   * document. Unique for each agent, so that a repeated request does not answer a call again.
   */
  phone_carrier: Generated<PhoneCarrier | null>;
  phone_call: Generated<string | null>;
  /** What is kept of the session's conversation. Null for a session of an earlier version, of which nothing was kept. */
  conversation_level: Generated<ConversationLevel | null>;
  /** What the bot removes from texts. */
  conversation_redact: JSONColumnType<string[], string | undefined, string>;
  /** The server process that relays the session's WebSocket. A relayed session cannot outlive this process. */
  relay_id: string | null;
  created_at: Date;
  updated_at: Date;
  /** Time of the start request. For a WebSocket start, the time when the client connected. */
  requested_at: Date | null;
  claimed_at: Date | null;
  ready_at: Date | null;
  /** The dispatch. Recorded before it if the bot does not support `GET /_bot/session`. */
  dispatched_at: Date | null;
  bot_started_at: Date | null;
  /** When the Python host called `bot()`. */
  bot_called_at: Date | null;
  /** When the client was connected by WebSocket or WebRTC. */
  transport_connected_at: Date | null;
  /** When the bot sent its first frame to the client. */
  first_frame_at: Date | null;
  cold_start: boolean | null;
  ending_status: SessionCompletionStatus | null;
  completion_status: SessionCompletionStatus | null;
  ended_at: Date | null;
  events: JSONColumnType<StoredSessionEvent[]>;
};

/** CPU and memory samples of open sessions: `[unix seconds, millicores, bytes][]`. Each row covers a few seconds. */
export type SessionSamplesTable = {
  session_id: string;
  first_at: Date;
  samples: JSONColumnType<[number, number, number][]>;
};

export type SessionMetricsTable = {
  session_id: string;
  id: string;
  sample_count: number;
  cpu_p50: number;
  cpu_p90: number;
  cpu_p95: number;
  cpu_p99: number;
  memory_p50: number;
  memory_p90: number;
  memory_p95: number;
  memory_p99: number;
  timeseries: JSONColumnType<{ t: number; c: number; m: number }[]>;
  event_at: Date;
  created_at: Date;
};

/** The lines and the recording are in files of the host, each encrypted with its own key (`conversations/content-file.ts`). */
export type SessionConversationsTable = {
  session_id: string;
  /** The host whose data directory contains the files. */
  host_id: string;
  state: 'live' | 'complete' | 'incomplete' | 'expired' | 'deleted';
  /** The key of the lines, wrapped with a key of the organization. Null after the lines were deleted. */
  wrapped_key: Buffer | null;
  /** When the recording began. Null: the bot recorded nothing. */
  recorded_at: Date | null;
  /** The key of the recording. Null after the recording was deleted. */
  recording_key: Buffer | null;
  /** Null while the session runs. The columns after it repeat some of the numbers for lists of sessions. */
  numbers: JSONColumnType<ConversationNumbers> | null;
  /** Responses measured from silence, or, if there are none, from the release of the turn. */
  response_p50_ms: number | null;
  response_p95_ms: number | null;
  interruptions: number | null;
  errors: number | null;
  created_at: Date;
  ended_at: Date | null;
};

/** Uploaded archives. `id` is the name of the archive's file. `announced`: hash and size were declared before the upload. */
export type UploadsTable = {
  id: string;
  organization_id: string;
  region: string;
  announced: boolean;
  /** `complete` means that all bytes of the archive have arrived, and match the hash and size if these were declared before. */
  state: 'open' | 'complete';
  /** SHA-256 of the tar.gz archive, or of the tar archive in it, in hexadecimal. */
  content_hash: string | null;
  /** The first 16 hexadecimal digits of the MD5 of the archive, by which existing clients identify it. */
  context_hash: string | null;
  size_bytes: number | null;
  created_at: Date;
  updated_at: Date;
};

/** A build. There is at most one build per organization, region and content, not counting failed builds. */
export type BuildsTable = {
  id: string;
  organization_id: string;
  region: string;
  upload_id: string;
  content_hash: string;
  context_hash: string;
  size_bytes: number;
  dockerfile_path: string;
  state: BuildStatus;
  /** Why the build failed or was canceled: a stable code for programs, and a message for people. Null for other builds. */
  error_code: string | null;
  error: string | null;
  prepared: JSONColumnType<Record<string, string | number | boolean | null>> | null;
  /** Whether the build's files are being removed, so that it can no longer be used. */
  removing: Generated<boolean>;
  /**
   * When the cancellation of the build was requested. The server that runs the build then stops it. Null if it was not requested.
   */
  cancel_requested_at: Generated<Date | null>;
  /** Number of attempts that started but did not end: the running attempt, and attempts whose server was killed. */
  unfinished_attempts: Generated<number>;
  created_at: Date;
  updated_at: Date;
  started_at: Date | null;
  completed_at: Date | null;
  /** When a build of this content was last requested. */
  used_at: Date;
};

export type BuildLogLinesTable = { build_id: string; line: number; at: Date; text: string };

/**
 * Counts and latency histograms (`sessions/latency-bins.ts`) of the sessions of a deployment that were created in the half hour
 * from `from_at` on. Follows from the sessions of the last days (`sessions/roll-up-statistics.ts`).
 */
export type SessionStatisticsTable = {
  organization_id: string;
  from_at: Date;
  agent_id: string;
  deployment_id: string;
  sessions: number;
  failed: number;
  /** Highest number of sessions that had an instance at the same time. */
  open_at_most: number;
  /** Bins of start times, and the number of sessions in each. */
  start_bins: number[];
  start_counts: number[];
  response_bins: number[];
  response_counts: number[];
};

/** The room of a session at its provider. Kept for a day after the deletion of the room, and as long as the session. */
export type SessionRoomsTable = {
  session_id: string;
  organization_id: string;
  provider: RoomTransport;
  name: string;
  /** The provider's id of the incoming call for which the session was started, so that a repeated announcement starts no second one. */
  call_id: string | null;
  /** What the bot needs to join, encrypted. Null before the session exists, and after its end. */
  sealed: Buffer | null;
  meetings: JSONColumnType<readonly Meeting[]>;
  /** When the provider closes the room, unless the caller of the start asked for another time. */
  expires_at: Date;
  /** How often the service has tried to delete the room. */
  attempts: Generated<number>;
  /** When to try to delete the room. Null while its session runs, and once the room is deleted. */
  delete_at: Date | null;
  deleted_at: Date | null;
  created_at: Date;
};

/** A meeting in a room, and its bot in it, by the provider's ids. */
export type Meeting = { readonly meetingId: string; readonly participantId: string };

/** A call whose session was deleted. Kept forever: Twilio and Plivo sign no time, so a replay would start a session. */
export type PastCallsTable = { agent_id: string; carrier: PhoneCarrier; call: string };

/** The stored output of an ended instance, which served the session `session_id`. */
export type InstanceLogsTable = {
  instance_id: string;
  agent_id: string;
  deployment_id: string;
  session_id: string | null;
  /** The host whose data directory contains the output files of the instance. */
  host_id: string;
  /** Times at which the instance wrote its first and its last output. */
  begins_at: Date;
  ends_at: Date;
  /** Size of the stored output in bytes, without the part that was dropped (`dropped_bytes`). */
  bytes: number;
  dropped_bytes: number;
  stored_at: Date;
};

/** One row with the id of the current root key, and a known text (`canary`) that only this key decrypts. */
export type VaultStateTable = {
  one: Generated<boolean>;
  root_key_id: string;
  canary: Buffer;
  created_at: Date;
};

/** Keys of organizations, encrypted with a root key. The key with the highest version encrypts new values. */
export type VaultKeysTable = {
  organization_id: string;
  /** Keys with the purpose `stamp` compute MACs. */
  purpose: 'value' | 'fingerprint' | 'stamp';
  version: number;
  root_key_id: string;
  wrapped: Buffer;
  created_at: Date;
};

/** Damaged or undecryptable data. `set` is null outside of sets, and `organization` is empty without one. */
export type VaultDamageFinding = { organization: string; set: string | null; problem: string };

/** The last task of each kind. The remaining work is not stored: it follows from the stored keys and values. */
export type VaultTasksTable = {
  id: string;
  task: 'rekey' | 'rotate' | 'verify';
  /** The organization whose data the task processes. Null means all organizations. */
  organization_id: string | null;
  state: VaultTaskState;
  done: number;
  total: number;
  findings: JSONColumnType<VaultDamageFinding[]>;
  created_at: Date;
  updated_at: Date;
  ended_at: Date | null;
};

export type SecretSetsTable = {
  id: string;
  organization_id: string;
  name: string;
  kind: 'secret' | 'imagePullSecret';
  region: string;
  /** Number of the newest revision of the secret set. */
  revision: number;
  created_at: Date;
  updated_at: Date;
};

export type SecretRevisionsTable = {
  set_id: string;
  revision: number;
  action: 'set' | 'replace' | 'unset' | 'rollback';
  rolled_back_to: number | null;
  /** The registry of an image pull secret. */
  host: string | null;
  /** Keys of the secret set, sorted, each with the number of the revision in which its value was written. */
  entries: JSONColumnType<[string, number][]>;
  added: JSONColumnType<string[]>;
  changed: JSONColumnType<string[]>;
  removed: JSONColumnType<string[]>;
  /** When the credentials of an image pull secret expire, if that is known. */
  expires_at: Date | null;
  created_by_key_id: string | null;
  created_at: Date;
  /** MAC over the identity of the set, `host`, `expires_at` and `entries`. A revision without one counts as damaged. */
  mac: Buffer | null;
};

/** A value with the revision in which it was written. Later revisions refer to this row until the value changes. */
export type SecretValuesTable = {
  set_id: string;
  key: string;
  revision: number;
  sealed: Buffer;
  key_version: number;
  fingerprint: Buffer;
  fingerprint_version: number;
  bytes: number;
  created_at: Date;
};

/** The delivery of a secret revision to its region. The row is kept after the delivery, as a record. */
export type SecretDeliveriesTable = {
  set_id: string;
  revision: number;
  region: string;
  state: SecretSetReadiness;
  attempts: Generated<number>;
  error: string | null;
  /** Id of the host whose server recorded the success or failure of the delivery. Null while the delivery is pending. */
  host_id: string | null;
  created_at: Date;
  /** Time of the next attempt to deliver the revision. Null if no retry is scheduled. */
  next_at: Date | null;
  done_at: Date | null;
};

/** The keys of services that the service itself uses for an organization, such as those of rooms. */
export type ProviderKeysTable = {
  organization_id: string;
  provider: string;
  sealed: Buffer;
  /** The version of the organization's key that decrypts `sealed`. */
  key_version: number;
  /** The account at the provider, as the provider names it. */
  account: string;
  /** What may be shown of the key. */
  details: JSONColumnType<ProviderKeyDetails>;
  connected_at: Date;
};

/** `signsDialin` is of providers of rooms only. */
export type ProviderKeyDetails = { readonly signsDialin?: boolean };

/** Whether the registry accepts a revision's credentials, at the last check. Only shown; nothing depends on it. */
export type PullSecretChecksTable = {
  set_id: string;
  revision: number;
  result: ImagePullSecretCheckResult;
  message: string;
  image: string | null;
  checked_at: Date;
};

/** A phone call that was refused. Shown in the log of its agent. */
export type RefusedCallsTable = {
  id: string;
  organization_id: string;
  /** Null if the organization has no agent with the name that the carrier sent. */
  agent_id: string | null;
  /** The deployment that served new sessions of the agent, or was to serve them. */
  deployment_id: string | null;
  agent_name: string;
  carrier: PhoneCarrier;
  reason: string;
  message: string;
  at: Date;
};

/** The audit log. `hash` covers the row and `previous_hash`, the hash of the preceding row. */
export type AuditEventsTable = {
  organization_id: string;
  sequence: number;
  at: Date;
  actor_key_id: string | null;
  actor_key_name: string | null;
  actor_user_id: string | null;
  actor_user_email: string | null;
  address: string | null;
  request_id: string | null;
  action: string;
  object: string | null;
  region: string | null;
  keys: JSONColumnType<string[]>;
  revision_before: number | null;
  revision_after: number | null;
  result: string;
  /** Number of requests that this audit event stands for: 1, or more if it summarizes refused requests. */
  count: number;
  previous_hash: Buffer;
  hash: Buffer;
};

/** A person. The e-mail address is in lower case. */
export type UsersTable = {
  id: string;
  email: string;
  email_verified: Generated<boolean>;
  name: string;
  image: string | null;
  created_at: Date;
  updated_at: Date;
};

/** The cookie has the token with a MAC, so that a token leaked from the database is not enough to forge a cookie. */
export type UserSessionsTable = {
  id: string;
  user_id: string;
  token: string;
  expires_at: Date;
  ip_address: string | null;
  user_agent: string | null;
  created_at: Date;
  updated_at: Date;
};

/** A sign-in method of a user: `provider_id` is `credential` (a password) or `openid`. */
export type UserCredentialsTable = {
  id: string;
  user_id: string;
  provider_id: string;
  /** The user's id at the OpenID Connect provider. If the sign-in method is a password, equal to `user_id`. */
  account_id: string;
  /** The password, hashed with scrypt. Null for other ways to sign in. */
  password: string | null;
  created_at: Date;
  updated_at: Date;
};

/** Short-lived values of sign-ins: OpenID Connect states, which the library better-auth stores, and authorization codes. */
export type AuthVerificationsTable = {
  id: string;
  identifier: string;
  value: string;
  expires_at: Date;
  created_at: Date;
  updated_at: Date;
};

/** A device login (RFC 8628). `user_id` is the first person who opened the login page, or null before that. */
export type DeviceLoginsTable = {
  id: string;
  device_code: string;
  user_code: string;
  user_id: string | null;
  status: 'pending' | 'approved' | 'denied';
  expires_at: Date;
  client_id: string | null;
  device_name: string | null;
  address: string | null;
};

/** Personal access tokens. The row of a revoked token is deleted. */
export type PersonalTokensTable = {
  id: string;
  user_id: string;
  created_by: 'person' | 'device-login';
  name: string;
  start: string;
  /** SHA-256 of the token. */
  hash: Buffer;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
};

export type OrganizationMembersTable = { organization_id: string; user_id: string; role: Role; created_at: Date };

/** A link for an invitation or a password reset. The row is deleted when the link is used. */
export type OneTimeLinksTable = {
  id: string;
  purpose: 'invitation' | 'password-reset';
  /** SHA-256 hash of the secret token in the URL of the invitation or password reset. */
  hash: Buffer;
  /** For an invitation, the organization and the role that the invited person gets. Null for a password reset. */
  organization_id: string | null;
  role: Role | null;
  /** Address of the invited person, or of the one whose password the link resets. Null if anyone may accept the invitation. */
  email: string | null;
  /** For a password reset, the person whose password the link resets. Null for an invitation. */
  user_id: string | null;
  created_at: Date;
  expires_at: Date;
};

/** Token buckets that all servers share. */
export type RateLimitsTable = { key: string; tokens: number; updated_at: Date };

export type WebhooksTable = {
  id: string;
  organization_id: string;
  url: string;
  description: string;
  events: JSONColumnType<WebhookEvent[], string, string>;
  enabled: boolean;
  /** The key that signs requests, wrapped with a key of the organization. */
  wrapped_key: Buffer;
  /** The key before the last rotation, which also signs requests until `former_key_until`. Null without a rotation. */
  former_key: Generated<Buffer | null>;
  former_key_until: Generated<Date | null>;
  created_at: Date;
  updated_at: Date;
};

/** Transactional outbox: inserted in the transaction of the state change that it reports, so that no event is lost. */
export type WebhookDeliveriesTable = {
  webhook_id: string;
  event_id: string;
  event: WebhookEvent | 'webhook.test';
  /** The session, deployment or agent that the event is about. Events with the same subject are sent one after the other. */
  subject: string;
  /** Number of the event among those of its webhook and subject, from 1. */
  sequence: number;
  /** The body of the requests, as JSON text. */
  payload: string;
  state: 'pending' | 'delivered' | 'failed';
  attempts: Generated<number>;
  /**
   * When a pending delivery is due. While a server sends it, the end of that server's lease. Null unless it is pending.
   */
  next_at: Date | null;
  created_at: Date;
  attempted_at: Generated<Date | null>;
  duration_ms: Generated<number | null>;
  response_status: Generated<number | null>;
  response_body: Generated<string | null>;
  error: Generated<string | null>;
};

/** An alert of an agent. The columns of the incident are null unless an incident is open. */
export type AlertsTable = {
  id: string;
  agent_id: string;
  kind: AlertKind;
  /** In the unit of `alertKinds`. Null if the kind has no threshold. */
  threshold: number | null;
  window_minutes: number | null;
  created_at: Date;
  incident_id: Generated<string | null>;
  opened_at: Generated<Date | null>;
  opened_value: Generated<number | null>;
};

/** The connection pool or a transaction. Functions accept either, so that a transaction can span several features. */
export type Database = Kysely<Tables>;
