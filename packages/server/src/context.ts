import type { ConversationLevel, DeploySource } from '@bothost/contract';
import type {
  DirectoryTreeRemover,
  InstanceLifecycle,
  InstanceOutputStore,
  SessionPriority,
  StartMethods,
} from '@bothost/runtime';
import type { BetterAuth } from './accounts/auth.ts';
import type { OpenIdProvider } from './accounts/auth-options.ts';
import type { RefusalLog } from './audit/refusals.ts';
import type { BuildServices } from './builds/build-services.ts';
import type { DiskSpaceGuard } from './builds/disk-space.ts';
import type { InstallationSettings } from './checks/installation.ts';
import type { RateLimit } from './concurrency/rate-limit.ts';
import type { ConversationFollowers } from './conversations/followers.ts';
import type { AllowedHosts } from './http-client/allowed-hosts.ts';
import type { RegionHost } from './instances/host.ts';
import type { Sampler } from './metrics/sampler.ts';
import type { Telemetry } from './metrics/telemetry.ts';
import type { Authenticator } from './organizations/authenticate.ts';
import type { Reconciler } from './reconciler/reconciler.ts';
import type { SessionOwnershipRegistry } from './reconciler/session-ownership.ts';
import type { DailyConnection } from './rooms/daily/daily-request.ts';
import type { LiveKitRooms } from './rooms/livekit/livekit-rooms.ts';
import type { RoomProviders } from './rooms/room-provider.ts';
import type { ImageRegistryConnectionOptions } from './secrets/registry/check-credentials.ts';
import type { Keyring } from './secrets/vault/keyring.ts';
import type { RootKeyProvider } from './secrets/vault/root-key.ts';
import type { SecretWriteQueue } from './secrets/write-queue.ts';
import type { CapacityRefusal } from './sessions/capacity-refusal.ts';
import type { EventTextReader } from './sessions/event-text.ts';
import type { SessionIceServers } from './sessions/ice-servers.ts';
import type { SessionAddressRegistry } from './sessions/session-address-registry.ts';
import type { StoreContext } from './store/store-context.ts';

/** All parts of the running service. Each operation declares only the parts that it uses. */
export type ServiceContext = StoreContext & {
  /** `accepts`: what the agents of this server's region are deployed from. */
  readonly host: RegionHost & { readonly accepts: DeploySource };
  /** The most that the operator allows to keep of conversations. */
  readonly maxConversationLevel: ConversationLevel;
  /** Computes the hash of the content of a directory that is served as an agent. */
  readonly hashDirectory: (path: string) => Promise<string>;
  readonly serverId: string;
  readonly socketTokenKey: Buffer;
  readonly controlTokenKey: Buffer;
  readonly iceServersOf: SessionIceServers;
  readonly roomProviders: RoomProviders;
  readonly liveKitRooms: LiveKitRooms;
  readonly deleteRooms: () => void;
  /** Derives the secrets in the URLs at which vendors announce calls. */
  readonly urlSecretKey: Buffer;
  readonly daily: DailyConnection;
  readonly installation: InstallationSettings;
  readonly authenticator: Authenticator;
  readonly ownership: SessionOwnershipRegistry;
  readonly sessionAddresses: SessionAddressRegistry;
  readonly sampler: Sampler;
  readonly conversationFollowers: ConversationFollowers;
  readonly readEventText: EventTextReader;
  readonly telemetry: Telemetry;
  readonly reconciler: Reconciler;
  readonly builds: BuildServices;
  readonly disk: DiskSpaceGuard;
  /** Encrypts and decrypts the secrets of organizations. */
  readonly keyring: Keyring;
  readonly rootKeys: RootKeyProvider;
  /** Wakes the worker that maintains the secret vault. */
  readonly workOnVault: () => void;
  readonly queueSecretWrite: SecretWriteQueue;
  /** Limits how often each organization checks the credentials of container registries. */
  readonly registryCheckRate: RateLimit;
  readonly refusals: RefusalLog;
  readonly refuseForCapacity: CapacityRefusal;
  /** How container registries are queried, and which ones are allowed. */
  readonly registries: ImageRegistryConnectionOptions;
  /** Hosts to which webhooks may be sent although their addresses are private. */
  readonly webhookHosts: AllowedHosts;
  /** Wakes the worker that delivers secrets in this region. */
  readonly deliverSecrets: () => void;
  /** Removes a revoked key (with null: all keys) from the key caches of all servers. */
  readonly announceRevocation: (keyId: string | null) => Promise<void>;
  /** The library better-auth, which signs people in. */
  readonly auth: BetterAuth;
  /** Null if no OpenID Connect provider is configured. */
  readonly openId: OpenIdProvider | null;
  /** The URL at which people reach the service. Not known before the service listens. */
  readonly serviceUrl: () => string;
  readonly isDraining: () => boolean;
  /** The output of running and ended bots. */
  readonly outputs: InstanceOutputStore;
  /** The part of the runtime that request handlers use. Only the reconciler starts and stops instances. */
  readonly runtime: SessionPriority &
    Pick<StartMethods, 'startMethods'> &
    Pick<InstanceLifecycle, 'list' | 'isAddressCurrent' | 'isConnected'>;
  readonly logsDirectory: string;
  readonly conversationsDirectory: string;
  readonly removeTree: DirectoryTreeRemover;
  /** Aborts at shutdown, so that long polls end and log followers are disconnected. */
  readonly closing: AbortSignal;
};
