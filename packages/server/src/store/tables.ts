import type {
  BuildStatus,
  CompletionStatus,
  DeploymentProblem,
  DeploymentState,
  PullSecretResult,
  SecretReadiness,
  SessionEventCode,
  VaultTaskState,
} from '@bothost/contract';
import type { ColumnType, Generated, JSONColumnType, Kysely } from 'kysely';

/**
 * The tables as the queries see them; `migrations/` makes them. Times are `timestamptz` (JavaScript dates), ids UUIDs of
 * version 7. A feature writes only tables of its own folder's nouns; it may join others to
 * read in one exchange.
 */
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
  pull_secret_checks: PullSecretChecksTable;
  audit_events: AuditEventsTable;
};

export type OrganizationsTable = {
  id: string;
  name: string;
  verbose_name: string;
  default_region: string;
  created_at: Date;
};

export type ApiKeysTable = {
  id: string;
  organization_id: string;
  kind: 'private' | 'public';
  name: string;
  /** The first characters, for people to recognise it. */
  start: string;
  /** SHA-256 of the whole key: keys are random, so a slow hash would only slow requests down. */
  hash: Buffer;
  created_at: Date;
  expires_at: Date | null;
  last_used_at: Date | null;
  revoked_at: Date | null;
};

/** Who runs the instances of a region: for `process`, one data directory (architecture, last section). */
export type HostsTable = {
  id: string;
  region: string;
  runtime: string;
  /** For people: which machine and process it was last. */
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
  created_at: Date;
  updated_at: Date;
  deleted_at: Date | null;
};

export type DeploymentSource =
  | { kind: 'directory'; path: string; contentHash: string }
  | { kind: 'build'; buildId: string; contentHash: string };

export type StoredExit = { code: number | null; signal: string | null; outOfMemory: boolean; tail: string };

/** A set by its id, since another one may get its name; the name is for people. */
export type SecretPin = { secretSet: string; setId: string; revision: number };

/** One version of an agent. `min_agents` and `max_agents` alone may change. */
export type DeploymentsTable = {
  id: string;
  agent_id: string;
  source: JSONColumnType<DeploymentSource>;
  /** The build of a source of that kind. */
  build_id: string | null;
  /** `validating`: startable, and no instance of it has become ready yet. Only `ready` ones take traffic. */
  state: DeploymentState;
  /** Since when it is in that state. */
  state_at: Generated<Date>;
  /** For the agent's owner: why it failed, or why its instances do not start at the moment. */
  error: string | null;
  error_code: DeploymentProblem | null;
  error_at: Date | null;
  /** How the last instance that did not start, or that nobody stopped, ended. */
  last_exit: JSONColumnType<StoredExit> | null;
  /** How many of those there were. */
  restarts: Generated<number>;
  /** Of a build, what the build has. A directory's files are the deployment's own. */
  prepared: JSONColumnType<Record<string, string | number | boolean | null>> | null;
  /** The revisions of secret sets that its instances run with. */
  secret_pins: JSONColumnType<SecretPin[], string | undefined, string>;
  created_by_key_id: string | null;
  /** What a rollback repeated. */
  rolled_back_from: string | null;
  /** When it began to take traffic, and when another one took its place. */
  activated_at: Date | null;
  replaced_at: Date | null;
  min_agents: number;
  max_agents: number;
  profile: string;
  max_session_seconds: number;
  websocket_auth: 'none' | 'token';
  created_at: Date;
  updated_at: Date;
};

export type InstanceState = 'starting' | 'ready' | 'stopping' | 'ended';

/**
 * `session_id` is the claim: set once, never changed, unique. So an instance serves one session and a session has one
 * instance, whatever the servers do (invariant 1).
 */
export type InstancesTable = {
  id: string;
  deployment_id: string;
  agent_id: string;
  host_id: string;
  session_id: string | null;
  state: InstanceState;
  host: string | null;
  port: number | null;
  /** The bot has `GET /_bot/session`, so a server that comes back can ask it (bot contract 2.2). */
  reports_session: Generated<boolean>;
  /** What the runtime noticed of it; its session gets them as events. */
  notices: ColumnType<StoredEvent[], string | undefined, string>;
  created_at: Date;
  ready_at: Date | null;
  ended_at: Date | null;
};

/**
 * `waiting`: made, its client has not connected (WebSocket starts). `starting`: has its instance. `live`: the bot took it.
 * `ending`: the cause of its end is decided (`ending_status`), its instance is being stopped. `ended`: the record is final.
 */
export type SessionState = 'waiting' | 'starting' | 'live' | 'ending' | 'ended';

export type StoredEvent = { code: SessionEventCode; at: string; detail: Record<string, unknown> | null };

export type SessionsTable = {
  id: string;
  organization_id: string;
  agent_id: string;
  deployment_id: string;
  state: SessionState;
  transport: 'none' | 'webrtc' | 'websocket';
  /** What the bot gets as its body, as JSON text; kept until the bot has it, so that a hand-over survives a crash. */
  body: string | null;
  /** The server process that relays its socket; such a session cannot outlive it. */
  relay_id: string | null;
  created_at: Date;
  updated_at: Date;
  /** When the start was asked for: the start request, or the client's connection for WebSocket starts. */
  requested_at: Date | null;
  claimed_at: Date | null;
  ready_at: Date | null;
  /** The hand-over was begun; written before it for bots that cannot be asked afterwards. */
  handed_over_at: Date | null;
  bot_started_at: Date | null;
  cold_start: boolean | null;
  ending_status: CompletionStatus | null;
  completion_status: CompletionStatus | null;
  ended_at: Date | null;
  events: JSONColumnType<StoredEvent[]>;
};

/** Samples of sessions that have not ended: rows of a few seconds each, `[unix seconds, millicores, bytes][]`. */
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

/** An archive on its way here; its bytes lie in a file of its id. `announced`: hash and size were told before any byte. */
export type UploadsTable = {
  id: string;
  organization_id: string;
  region: string;
  announced: boolean;
  /** `complete`: all bytes are there and are what their hash says. */
  state: 'open' | 'complete';
  /** SHA-256, hexadecimal. */
  content_hash: string | null;
  /** The first 16 digits of the MD5, by which existing clients know an archive. */
  context_hash: string | null;
  size_bytes: number | null;
  created_at: Date;
  updated_at: Date;
};

/** One for each organization, region and content, but for those that failed. */
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
  /** A stable word for programs, and the sentence for people. */
  error_code: string | null;
  error: string | null;
  /** What the runtime made of it. */
  prepared: JSONColumnType<Record<string, string | number | boolean | null>> | null;
  /** Its files are being removed: it is nobody's any more. */
  removing: Generated<boolean>;
  /** Of a build that runs: its server stops it. */
  cancel_requested_at: Generated<Date | null>;
  /** Attempts that began and were neither ended nor released: the running one, and those whose server died. */
  unfinished_attempts: Generated<number>;
  created_at: Date;
  updated_at: Date;
  started_at: Date | null;
  completed_at: Date | null;
  /** When somebody last asked for this content. */
  used_at: Date;
};

export type BuildLogLinesTable = { build_id: string; line: number; at: Date; text: string };

/** The output of an instance that has ended: what lies in the log files of its host. `session_id` is of the one it served. */
export type InstanceLogsTable = {
  instance_id: string;
  agent_id: string;
  deployment_id: string;
  session_id: string | null;
  /** In whose data directory the files are. */
  host_id: string;
  /** When its first and its last output was seen. */
  begins_at: Date;
  ends_at: Date;
  /** Kept on the disk. */
  bytes: number;
  dropped_bytes: number;
  stored_at: Date;
};

/** One row: the current root key, and a known text that it wraps (`canary`), which shows that the key is the right one. */
export type VaultStateTable = {
  one: Generated<boolean>;
  root_key_id: string;
  canary: Buffer;
  created_at: Date;
};

/** The keys of organizations, wrapped by a root key. The greatest version encrypts what is written now. */
export type VaultKeysTable = {
  organization_id: string;
  /** `stamp` is the key of MACs. */
  purpose: 'value' | 'fingerprint' | 'stamp';
  version: number;
  root_key_id: string;
  wrapped: Buffer;
  created_at: Date;
};

/** Something that is damaged or cannot be decrypted, without a value; `set` is null if it belongs to no set. */
export type VaultFinding = { organization: string; set: string | null; problem: string };

/** Maintenance of the vault, the last task of each kind. The remaining work is read from the stored data. */
export type VaultTasksTable = {
  id: string;
  task: 'rekey' | 'rotate' | 'verify';
  /** Null: all organizations. */
  organization_id: string | null;
  state: VaultTaskState;
  done: number;
  total: number;
  findings: JSONColumnType<VaultFinding[]>;
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
  /** The newest revision. */
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
  /** Its keys in order, each with the revision in which its value was written. */
  entries: JSONColumnType<[string, number][]>;
  added: JSONColumnType<string[]>;
  changed: JSONColumnType<string[]>;
  removed: JSONColumnType<string[]>;
  /** When the credentials of an image pull secret expire, if that is known. */
  expires_at: Date | null;
  created_by_key_id: string | null;
  created_at: Date;
  /** Over the identity of the set, `host`, `expires_at` and `entries`. Null only before the first start after migration 0016. */
  mac: Buffer | null;
  /** The MAC from before migration 0016, until `mac` is added. */
  former_mac: Buffer | null;
};

/** A value that was written in one revision; later revisions that did not change it refer to it. */
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

/** The delivery of a revision to its region; the row stays as a record. */
export type SecretDeliveriesTable = {
  set_id: string;
  revision: number;
  region: string;
  state: SecretReadiness;
  attempts: Generated<number>;
  error: string | null;
  /** The host that delivered it. */
  host_id: string | null;
  created_at: Date;
  /** When it is tried next; null: never. Failed deliveries may be retried. */
  next_at: Date | null;
  done_at: Date | null;
};

/** The last check of an image pull secret's revision at its registry. For information only. */
export type PullSecretChecksTable = {
  set_id: string;
  revision: number;
  result: PullSecretResult;
  message: string;
  image: string | null;
  checked_at: Date;
};

/** The audit log. `hash` covers the row and `previous_hash`, the hash of the preceding row. */
export type AuditEventsTable = {
  organization_id: string;
  sequence: number;
  at: Date;
  actor_key_id: string | null;
  actor_key_name: string | null;
  address: string | null;
  request_id: string | null;
  action: string;
  object: string | null;
  region: string | null;
  keys: JSONColumnType<string[]>;
  revision_before: number | null;
  revision_after: number | null;
  result: string;
  /** Requests that the entry stands for. */
  count: number;
  previous_hash: Buffer;
  hash: Buffer;
};

/** The pool, or a transaction of it: verbs take either, so that a transaction can span features. */
export type Database = Kysely<Tables>;
