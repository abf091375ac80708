import { availableParallelism, hostname } from 'node:os';
import { join } from 'node:path';
import { pullSecretChecks, secretDryRuns } from '@bothost/contract';
import type { Logger } from 'pino';
import { buildsInUse } from './agents/builds-in-use.ts';
import { pinnedRevisions } from './agents/pinned-revisions.ts';
import { serveDirectories } from './agents/serve-directories.ts';
import { createRefusalLog } from './audit/refusals.ts';
import { openBuilds } from './builds/open.ts';
import type { Config } from './config.ts';
import { connectSocket } from './connect-socket.ts';
import type { Context } from './context.ts';
import { claimDataDirectory, type DataDirectory, deriveKey, openDataDirectory } from './data-directory.ts';
import { failureOf } from './failure-of.ts';
import { addGauges } from './gauges.ts';
import { createHandlers } from './handlers.ts';
import { createApp } from './http/app.ts';
import type { RouteHandlers } from './http/operation-routes.ts';
import { forgetRegion, takeRegion } from './instances/host.ts';
import { listen } from './listen.ts';
import { keepOutput, withKeptOutput } from './logs/keep.ts';
import { createSampler } from './metrics/sampler.ts';
import { createTelemetry } from './metrics/telemetry.ts';
import { operatorTokenCheck } from './operator-token.ts';
import { createAuthenticator } from './organizations/authenticate.ts';
import { type FirstStart, firstStart, homeOrganization } from './organizations/first-start.ts';
import { writeProfile } from './organizations/profile.ts';
import { createRateLimit } from './rate-limit.ts';
import { createAttendance } from './reconciler/attendance.ts';
import { createReconciler } from './reconciler/reconcile.ts';
import { startRounds } from './rounds.ts';
import { hashDirectory } from './runtime/directory-hash.ts';
import { runtimes } from './runtime/registry.ts';
import { startDeliveryWorker } from './secrets/delivery-worker.ts';
import { resolveBySystem } from './secrets/registry/guarded-agent.ts';
import { createRegistryPolicy } from './secrets/registry/registry-policy.ts';
import { pruneRevisions } from './secrets/upkeep/prune.ts';
import { startUpkeepWorker } from './secrets/upkeep/worker.ts';
import { openVault } from './secrets/vault/open-vault.ts';
import { vaultProblem } from './secrets/vault/vault-state.ts';
import { createDirectory } from './sessions/whereabouts.ts';
import { shutDown } from './shut-down.ts';
import { openStore, type Store } from './store/open-store.ts';
import { createPersist } from './store/persist.ts';
import { newId } from './uuid.ts';

export type RunningServer = {
  /** Where it listens, as in `http://127.0.0.1:7420`. */
  readonly url: string;
  /** Set on the first start only: the keys, and where the profile was written. */
  readonly firstStart: (FirstStart & { readonly profileFile: string; readonly given: boolean }) | null;
  readonly agents: readonly { readonly name: string; readonly problem: string | null }[];
  /** Ends live sessions after their grace, then instances and database; a second call ends the grace at once. */
  readonly close: () => Promise<void>;
  /** Stops this server's bots and lets go of everything without touching a record: another server has the region. */
  readonly abandon: () => Promise<void>;
  /** Resolves when the server cannot go on: it lost its region to another one. */
  readonly failed: Promise<Error>;
};

/** All that a check of registry credentials may take. */
const registryTimeoutMs = 5_000;
/** Entries of refused requests in the audit log of one organization: some hundreds of bytes each, a megabyte a day at most. */
const toldRefusals = { atOnce: 120, perSecond: 1 / 30 };

/**
 * Composition root: makes everything from the configuration, in the order of the floors, and takes it down again. It waits
 * for the agents from directories, which may take minutes to install, unless it is to stop before.
 */
export async function startServer(
  config: Config,
  logger: Logger,
  stopping: AbortSignal = new AbortController().signal,
): Promise<RunningServer> {
  const isRoot = process.geteuid?.() === 0;
  const data = await openDataDirectory(config.dataDirectory, isRoot, config.secrets.rootKey);
  const claim = await claimDataDirectory(data.path);
  let lost: (error: Error) => void = () => undefined;
  const failed = new Promise<Error>((resolve) => {
    lost = resolve;
  });
  /** What has to be taken down when the start fails, last first. */
  const undo: (() => Promise<unknown>)[] = [claim.release];
  try {
    const store = await openStore({
      databaseUrl: config.secrets.databaseUrl,
      dataDirectory: data.path,
      region: config.region,
      logger,
      onRegionLost: (error) => lost(error),
    });
    undo.push(() => store.close(config.onStop === 'leave'));
    return { ...(await compose(config, logger, data, store, undo, stopping)), failed };
  } catch (error) {
    for (const step of undo.reverse()) await step().catch(() => undefined);
    throw error;
  }
}

async function compose(
  config: Config,
  logger: Logger,
  data: DataDirectory,
  store: Store,
  undo: (() => Promise<unknown>)[],
  stopping: AbortSignal,
) {
  const { db } = store;
  const now = () => new Date();
  const base = { db, now, newId, logger };
  const host = { id: data.id, region: config.region };
  const description = `process ${process.pid} on ${hostname()}, data directory ${data.path}`;
  const { lastHeartbeat, isAlone } = await takeRegion(base, { ...host, runtime: 'process', description });
  const { keyring, rootKeys } = await openVault({ ...base, isAlone }, vaultKeysOf(config, data)).catch(
    async (error) => {
      if (lastHeartbeat === null) await forgetRegion(db, host).catch(() => undefined);
      throw error;
    },
  );
  const delivery = startDeliveryWorker({ ...base, keyring, host });
  undo.push(() => delivery.close());
  const upkeep = startUpkeepWorker({ ...base, keyring, rootKeys, pinsOf: pinnedRevisions });
  undo.push(() => upkeep.close());
  const closing = new AbortController();
  const persist = createPersist(closing.signal);
  const building = {
    memoryBytes: config.buildMemoryMegabytes * 1024 * 1024,
    cpuMillicores: config.buildProcessors * 1000,
    timeoutMilliseconds: config.buildTimeoutSeconds * 1000,
    environment: config.secrets.buildVariables,
  };
  const driver = await runtimes.process({
    dataDirectory: data.path,
    logger,
    now,
    outputLimitBytes: config.logSessionMegabytes * 1024 * 1024,
    building,
    ...config.inherited,
  });
  const logsDirectory = join(data.path, 'logs');
  const keeping = { ...base, host, persist, logsDirectory, runtime: driver };
  const runtime = withKeptOutput(driver, (instanceId) => keepOutput(keeping, instanceId));
  undo.push(() => runtime.close());

  const serverId = newId();
  const telemetry = createTelemetry();
  const attendance = createAttendance();
  const directory = createDirectory(base);
  const sampler = createSampler({ ...base, usage: (ids) => runtime.sample(ids) });
  const authenticator = createAuthenticator(base);
  const controlTokenKey = deriveKey(data.rootKey, 'control-token');

  let url = '';
  let starting = true;
  let draining = false;
  const iceConfigUrl = () => `${url}/v1/ice-servers`;
  const reconciler = createReconciler({
    ...base,
    runtime,
    host,
    serverId,
    key: controlTokenKey,
    keyring,
    iceConfigUrl,
    attendance,
    directory,
    sampler,
    telemetry,
    lastHeartbeat,
    persist,
    holdsRegion: store.holdsRegion,
  });
  const builds = await openBuilds({
    ...base,
    host,
    runtime,
    persist,
    holdsRegion: store.holdsRegion,
    isDraining: () => draining,
    onOver: telemetry.buildOver,
    dataDirectory: data.path,
    uploadTokenKey: deriveKey(data.rootKey, 'upload-token'),
    timeoutSeconds: config.buildTimeoutSeconds,
    buildsAtOnce: config.buildsAtOnce ?? availableParallelism(),
    retention: { buildDays: config.buildRetentionDays, uploadHours: config.uploadRetentionHours },
    inUse: buildsInUse,
  });
  undo.push(() => builds.worker.close());
  const context: Context = {
    ...base,
    host,
    hashDirectory,
    serverId,
    publicUrl: () => config.publicUrl ?? url,
    socketTokenKey: deriveKey(data.rootKey, 'socket-token'),
    controlTokenKey,
    authenticator,
    attendance,
    directory,
    sampler,
    telemetry,
    reconciler,
    builds,
    keyring,
    rootKeys,
    workOnVault: upkeep.kick,
    dryRuns: createRateLimit(secretDryRuns, now),
    registryChecks: createRateLimit(pullSecretChecks, now),
    refusals: createRefusalLog(base, createRateLimit(toldRefusals, now)),
    registries: {
      policy: createRegistryPolicy(config.registries, config.registryTokenHosts),
      resolve: resolveBySystem,
      timeoutMs: registryTimeoutMs,
    },
    deliverSecrets: delivery.kick,
    persist,
    announceRevocation: async (keyId) => {
      authenticator.forget(keyId);
      await store.notify('bothost_keys', keyId);
    },
    isDraining: () => draining,
    outputs: runtime.outputs,
    logsDirectory,
    closing: closing.signal,
  };
  addGauges(telemetry.registry, base);
  await store.subscribe('bothost_keys', (keyId) => authenticator.forget(keyId === '' ? undefined : keyId));

  const app = await createApp(
    {
      ...context,
      isOperator: await operatorTokenCheck(data.path, config.secrets.operatorToken),
      uploads: builds.uploads,
      cors: { origins: config.corsOrigins },
      toFailure: failureOf,
      connect: (path) => connectSocket(context, path),
      probes: {
        notReady: async () => {
          if (starting) return 'the service is starting';
          if (draining) return 'the service is shutting down';
          return (
            (await store.notReady()) ??
            (await vaultProblem({ db, rootKeys })) ??
            (await runtime.list().then(
              () => null,
              () => 'the runtime does not answer',
            ))
          );
        },
        metrics: async () => ({
          contentType: telemetry.registry.contentType,
          text: await telemetry.registry.metrics(),
        }),
        metricsToken: config.secrets.metricsToken ?? null,
      },
    },
    createHandlers(context) as RouteHandlers,
  );
  undo.push(() => app.close());
  url = await listen(app, config.host, config.port);
  // Only who has the address may say whose keys are good there: a start that fails leaves the profile as it is.
  const first = await makeFirstOrganization(config, base, data, url);
  const home = await homeOrganization(base);
  const served =
    home === null ? [] : await serveDirectories({ ...base, hashDirectory }, home.id, host.region, config.agents);
  // From here on the keys of a first start are good, and agents are known.
  starting = false;
  undo.push(() => reconciler.close());
  // The sign of life begins when what died with the server before has its end: until then the last one is the truth.
  await reconciler.start();
  await builds.worker.start();
  const rounds = startRounds({
    ...base,
    host,
    directory,
    sampler,
    retentionDays: config.retentionDays,
    logs: {
      logsDirectory,
      days: config.logRetentionDays,
      totalBytes: config.logTotalMegabytes * 1024 * 1024,
    },
    removeUnusedBuilds: builds.removeUnused,
    pruneRevisions: () => pruneRevisions({ ...base, keyring, pinsOf: pinnedRevisions }),
    auditRetentionDays: config.auditRetentionDays,
    refusals: context.refusals,
  });
  undo.push(() => rounds.stop());
  const stopped = new Promise<string>((resolve) => {
    const stop = () => resolve('the service was stopped before it was ready');
    if (stopping.aborted) stop();
    else stopping.addEventListener('abort', stop, { once: true });
  });
  const agents = await Promise.all(
    served.map(async ({ name, problem, preparing }) => {
      const failed = preparing === null ? null : await Promise.race([reconciler.deployed(preparing), stopped]);
      return { name, problem: failed === null ? problem : `${name}: ${failed}` };
    }),
  );

  const { close, abandon } = shutDown({
    ...context,
    runtime,
    closing,
    undo,
    leave: config.onStop === 'leave',
    graceSeconds: config.shutdownGraceSeconds ?? 300,
    drain: () => {
      draining = true;
      reconciler.drain();
    },
  });
  return { url, agents, close, abandon, firstStart: first };
}

/**
 * The vault's own keys from the settings first; one that is derived of the root key where the operator gives that, which the
 * servers of one database share; and key files, which are made only where neither is given.
 */
function vaultKeysOf(config: Config, data: DataDirectory) {
  const own = config.secrets.vaultKeys.map((key) => Buffer.from(key, 'hex'));
  const derived = config.secrets.rootKey === undefined ? [] : [deriveKey(data.rootKey, 'vault')];
  return { keys: [...own, ...derived], folder: join(data.path, 'vault-keys') };
}

async function makeFirstOrganization(
  config: Config,
  base: Parameters<typeof firstStart>[0],
  data: DataDirectory,
  url: string,
): Promise<RunningServer['firstStart']> {
  const { bootstrapPrivateKey, bootstrapPublicKey } = config.secrets;
  const given = bootstrapPrivateKey !== undefined;
  let profileFile = '';
  const made = await firstStart(
    base,
    config.region,
    {
      organization: config.bootstrapOrganization ?? 'home',
      privateKey: bootstrapPrivateKey ?? null,
      publicKey: bootstrapPublicKey ?? null,
    },
    async ({ organizationName, privateKey, publicKey }) => {
      const profile = {
        api_url: config.publicUrl ?? url,
        organization: organizationName,
        private_key: privateKey,
        public_key: publicKey,
      };
      profileFile = await writeProfile(config.profileFile, join(data.path, 'botcli.toml'), profile);
    },
  );
  return made === null ? null : { ...made, profileFile, given };
}
