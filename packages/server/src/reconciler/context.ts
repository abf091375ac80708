import type { ConversationLevel, DeploySource } from '@bothost/contract';
import type { InstanceLifecycle, ProjectPreparer, Runtime, SessionPriority, StartMethods } from '@bothost/runtime';
import type { Logger } from 'pino';
import type { ConversationFollowers } from '../conversations/followers.ts';
import type { Sampler } from '../metrics/sampler.ts';
import type { Telemetry } from '../metrics/telemetry.ts';
import type { SessionRoomContext } from '../rooms/session-room.ts';
import type { ImageRegistryConnectionOptions } from '../secrets/registry/check-credentials.ts';
import type { Keyring } from '../secrets/vault/keyring.ts';
import type { SessionIceServers } from '../sessions/ice-servers.ts';
import type { SessionAddressRegistry } from '../sessions/session-address-registry.ts';
import type { RetryWrite } from '../store/retry-write.ts';
import type { Database } from '../store/tables.ts';
import type { SessionOwnershipRegistry } from './session-ownership.ts';

export type ReconcilerContext = {
  readonly db: Database;
  readonly now: () => Date;
  readonly newId: () => string;
  readonly logger: Logger;
  readonly runtime: ProjectPreparer & InstanceLifecycle & SessionPriority & StartMethods & Pick<Runtime, 'outputs'>;
  readonly host: { readonly id: string; readonly region: string; readonly accepts: DeploySource };
  readonly serverId: string;
  /** Key from which the control tokens of instances are derived. */
  readonly key: Buffer;
  /** Keys that decrypt the secrets with which an instance is started. */
  readonly keyring: Keyring;
  /** The most that the operator allows to keep of conversations. */
  readonly maxConversationLevel: ConversationLevel;
  readonly registries: Pick<ImageRegistryConnectionOptions, 'policy' | 'resolve'>;
  /** Returns the URL at which bots reach the service, or null if they cannot. Call this only after the service listens. */
  readonly internalUrl: () => string | null;
  readonly iceServersOf: SessionIceServers;
  readonly roomProviders: SessionRoomContext['roomProviders'];
  readonly ownership: SessionOwnershipRegistry;
  readonly sessionAddresses: SessionAddressRegistry;
  readonly sampler: Sampler;
  readonly conversationFollowers: Pick<ConversationFollowers, 'begin'>;
  readonly telemetry: Telemetry;
  /** Last heartbeat of the previous server process, recorded as the end of its relayed WebSockets. Null in a new region. */
  readonly lastHeartbeat: Date | null;
  readonly retryWrite: RetryWrite;
  /** Maximum number of instances per organization that start at the same time. */
  readonly startsAtOnce: number;
  /** Whether this server holds the lock of its region. Reconcile passes do nothing without the lock. */
  readonly holdsRegion: () => boolean;
};
