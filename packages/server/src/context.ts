import type { InstanceOutputs, Runtime } from '@bothost/runtime';
import type { Logger } from 'pino';
import type { RefusalLog } from './audit/refusals.ts';
import type { DiskSpace } from './builds/disk-space.ts';
import type { Builds } from './builds/open.ts';
import type { RateLimit } from './concurrency/rate-limit.ts';
import type { Host } from './instances/host.ts';
import type { Sampler } from './metrics/sampler.ts';
import type { Telemetry } from './metrics/telemetry.ts';
import type { Authenticator } from './organizations/authenticate.ts';
import type { Reconciler } from './reconciler/reconciler.ts';
import type { SessionOwnership } from './reconciler/session-ownership.ts';
import type { RegistryAccess } from './secrets/registry/check-credentials.ts';
import type { Keyring } from './secrets/vault/keyring.ts';
import type { RootKeyProvider } from './secrets/vault/root-key.ts';
import type { SessionDirectory } from './sessions/session-directory.ts';
import type { RetryWrite } from './store/retry-write.ts';
import type { Database } from './store/tables.ts';

/** All that the running service consists of. A verb asks for the slice that it needs, never for the whole. */
export type Context = {
  readonly db: Database;
  readonly now: () => Date;
  readonly newId: () => string;
  readonly logger: Logger;
  readonly host: Host;
  /** Of what lies in a directory that is served. */
  readonly hashDirectory: (path: string) => Promise<string>;
  /** This server process. */
  readonly serverId: string;
  readonly socketTokenKey: Buffer;
  readonly controlTokenKey: Buffer;
  readonly authenticator: Authenticator;
  readonly ownership: SessionOwnership;
  readonly directory: SessionDirectory;
  readonly sampler: Sampler;
  readonly telemetry: Telemetry;
  readonly reconciler: Reconciler;
  readonly builds: Builds;
  readonly disk: DiskSpace;
  /** Opens and seals what organizations keep secret. */
  readonly keyring: Keyring;
  readonly rootKeys: RootKeyProvider;
  /** Wakes the worker that does the requested maintenance of the vault. */
  readonly workOnVault: () => void;
  /** How often an organization may ask what a write would change. */
  readonly dryRuns: RateLimit;
  /** How often an organization may write secrets. */
  readonly secretWrites: RateLimit;
  /** How often an organization may have registries asked. */
  readonly registryChecks: RateLimit;
  readonly refusals: RefusalLog;
  /** How registries of images are asked, and which may be. */
  readonly registries: RegistryAccess;
  /** Delivers the secrets that are due in this region, soon. */
  readonly deliverSecrets: () => void;
  /** Drops a revoked key from the cache of this replica, and notifies the other replicas. */
  readonly announceRevocation: (keyId: string) => Promise<void>;
  /** Does a write that must not be lost. */
  readonly retryWrite: RetryWrite;
  readonly isDraining: () => boolean;
  /** What bots write, and where it lies when they have ended. */
  readonly outputs: InstanceOutputs;
  /** How instances of this server's deployments are started. */
  readonly startMethods: Runtime['startMethods'];
  readonly logsDirectory: string;
  /** Aborted at shutdown, so that long polls and log followers end. */
  readonly closing: AbortSignal;
};
