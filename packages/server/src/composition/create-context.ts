import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { DirectoryTreeRemover, ProjectPreparer, Runtime } from '@bothost/runtime';
import { hashDirectory } from '@bothost/runtime/directory-hash';
import { openTreeRemover } from '@bothost/runtime/remove-tree';
import { createBetterAuth } from '../accounts/auth.ts';
import type { OpenIdProvider } from '../accounts/auth-options.ts';
import { findBuildsInUse } from '../agents/builds-in-use.ts';
import { createRefusalLog } from '../audit/refusals.ts';
import { type BuildServices, createBuildServices } from '../builds/build-services.ts';
import { createDiskSpaceGuard } from '../builds/disk-space.ts';
import { createRateLimit } from '../concurrency/rate-limit.ts';
import type { Config } from '../config.ts';
import type { ServiceContext } from '../context.ts';
import { createEventTextReader } from '../conversations/event-text.ts';
import { createAllowedHosts } from '../http-client/allowed-hosts.ts';
import { createSampler } from '../metrics/sampler.ts';
import { createTelemetry } from '../metrics/telemetry.ts';
import { OperatorError } from '../operator-error.ts';
import { createAuthenticator } from '../organizations/authenticate.ts';
import { createReconciler } from '../reconciler/reconciler.ts';
import { createSessionOwnershipRegistry } from '../reconciler/session-ownership.ts';
import { createCapacityRefusal } from '../sessions/capacity-refusal.ts';
import { createSessionIceServers } from '../sessions/ice-servers.ts';
import { createSessionAddressRegistry } from '../sessions/session-address-registry.ts';
import { recordCapacityRefusal } from '../sessions/session-webhooks.ts';
import { createRetryWrite } from '../store/retry-write.ts';
import { deriveKeyFromRootKey } from './data-directory.ts';
import { announceRevocation } from './key-revocations.ts';
import { startRoomServices } from './rooms.ts';
import { openRuntime } from './runtime.ts';
import { findInternalUrl, getDefaultStartsAtOnce, getRuntimeDriver } from './runtime-driver.ts';
import { startSecretServices } from './secrets.ts';
import type { ServerStorage } from './server-storage.ts';
import type { Teardown } from './teardown.ts';

/** State of the service that changes while it runs. */
export type ServiceLifecycleState = {
  /** URL of the service. Empty until the service listens. */
  url: string;
  isStarting: boolean;
  isDraining: boolean;
};

/** Rate limit on audit entries for refused requests: at most about a megabyte a day per organization. */
const auditedRefusals = { burst: 120, perSecond: 1 / 30 };

/** Creates all parts, and starts secret delivery, vault maintenance and room deletion; `server.ts` starts the others. */
export async function createServiceContext(
  serverStorage: ServerStorage,
  config: Config,
  state: Readonly<ServiceLifecycleState>,
  teardown: Teardown,
): Promise<{ readonly context: ServiceContext; readonly runtime: Runtime; readonly removeTree: DirectoryTreeRemover }> {
  const { base, data, store } = serverStorage;
  const secrets = await startSecretServices({ ...base, isAlone: serverStorage.isAlone }, config, data, teardown);
  const retryWrite = createRetryWrite(teardown.closing);
  const logsDirectory = join(data.path, 'logs');
  const removeTree = openTreeRemover({ quarantineDirectory: join(data.path, 'quarantine'), logger: base.logger });
  const conversationsDirectory = join(data.path, 'conversations');
  const { runtime, conversationFollowers } = await openRuntime(
    { ...base, ...secrets, retryWrite, logsDirectory, conversationsDirectory, removeTree },
    config,
    data.path,
    teardown,
  );
  const authenticator = createAuthenticator(base);
  const openId = openIdProviderOf(config);
  const controlTokenKey = deriveKeyFromRootKey(data.rootKey, 'control-token');
  const parts = {
    ...base,
    ...secrets,
    retryWrite,
    serverId: base.newId(),
    telemetry: createTelemetry(),
    ownership: createSessionOwnershipRegistry(),
    sessionAddresses: createSessionAddressRegistry(base),
    sampler: createSampler({ db: base.db, usage: (ids) => runtime.sample(ids) }),
    conversationFollowers,
    readEventText: createEventTextReader({ ...base, ...secrets }),
    conversationsDirectory,
    controlTokenKey,
    maxConversationLevel: config.maxConversationLevel,
    webhookHosts: createAllowedHosts(config.webhookHosts.map((host) => new URL(host))),
    iceServersOf: createSessionIceServers(config.secrets, base.now),
    ...startRoomServices({ ...base, ...secrets }, config, teardown),
    installation: {
      driver: { kind: config.runtime, traits: getRuntimeDriver(config.runtime).traits },
      dataDirectory: data.path,
      diskReserveBytes: config.diskReserveBytes,
      isDatabaseEmbedded: config.secrets.databaseUrl === undefined,
      hasInternalUrl: findInternalUrl(config, state.url) !== null,
    },
    serviceUrl: () => config.publicUrl ?? state.url,
    isDraining: () => state.isDraining,
    disk: createDiskSpaceGuard({
      directory: data.path,
      reserveBytes: config.diskReserveBytes,
      organizationBytes: config.organizationDiskBytes,
      db: base.db,
      runtime,
    }),
  };
  const reconciler = createReconciler({
    ...parts,
    runtime,
    key: controlTokenKey,
    // Containers do not reach the address of the service, and Pipecat would then use another STUN server.
    internalUrl: () => findInternalUrl(config, state.url),
    lastHeartbeat: serverStorage.lastHeartbeat,
    holdsRegion: store.holdsRegion,
    startsAtOnce: config.startsAtOnce ?? getDefaultStartsAtOnce(config.runtime, availableParallelism()),
  });
  const builds = await openBuildParts(
    { ...parts, runtime, removeTree, closing: teardown.closing },
    serverStorage,
    config,
  );
  teardown.add(() => builds.worker.close());
  const context: ServiceContext = {
    ...parts,
    authenticator,
    reconciler,
    builds,
    hashDirectory,
    socketTokenKey: deriveKeyFromRootKey(data.rootKey, 'socket-token'),
    urlSecretKey: deriveKeyFromRootKey(data.rootKey, 'url-secret'),
    refusals: createRefusalLog(base, createRateLimit(auditedRefusals, base.now)),
    refuseForCapacity: createCapacityRefusal({
      ...parts,
      // The client gets the refusal even if the event is lost.
      record: (agent) =>
        recordCapacityRefusal(base, agent).catch((error: unknown) =>
          base.logger.warn({ err: error }, 'refusal for capacity could not be recorded'),
        ),
    }),
    announceRevocation: (keyId) => announceRevocation({ authenticator, store }, keyId),
    openId,
    auth: createBetterAuth({
      ...parts,
      openId,
      secret: deriveKeyFromRootKey(data.rootKey, 'sign-in').toString('hex'),
    }),
    outputs: runtime.outputs,
    runtime,
    logsDirectory,
    removeTree,
    closing: teardown.closing,
  };
  return { context, runtime, removeTree };
}

function openBuildParts(
  parts: Pick<ServiceContext, 'retryWrite' | 'isDraining' | 'telemetry' | 'disk' | 'closing'> & {
    readonly runtime: ProjectPreparer;
    readonly removeTree: DirectoryTreeRemover;
  },
  { base, data, store }: ServerStorage,
  config: Config,
): Promise<BuildServices> {
  return createBuildServices({
    ...base,
    ...parts,
    holdsRegion: store.holdsRegion,
    onEnded: parts.telemetry.buildEnded,
    dataDirectory: data.path,
    uploadTokenKey: deriveKeyFromRootKey(data.rootKey, 'upload-token'),
    timeoutSeconds: config.buildTimeoutSeconds,
    buildsAtOnce: config.buildsAtOnce ?? availableParallelism(),
    retention: { buildDays: config.buildRetentionDays, uploadHours: config.uploadRetentionHours },
    inUse: findBuildsInUse,
  });
}

/**
 * Returns the configured OpenID Connect provider, or null if none is configured.
 *
 * @throws OperatorError if only some of its required settings are present
 */
function openIdProviderOf(config: Config): OpenIdProvider | null {
  const { openIdIssuer: issuer, openIdClientId: clientId, openIdName: name, openIdEmailDomains: emailDomains } = config;
  const { openIdClientSecret: clientSecret } = config.secrets;
  if (issuer === undefined && clientId === undefined && clientSecret === undefined) return null;
  if (issuer === undefined || clientId === undefined || clientSecret === undefined) {
    throw new OperatorError(
      'OpenID Connect needs BOTHOST_OPENID_ISSUER, BOTHOST_OPENID_CLIENT_ID and BOTHOST_OPENID_CLIENT_SECRET. Set all three or none.',
    );
  }
  return { name, issuer, clientId, clientSecret, emailDomains };
}
