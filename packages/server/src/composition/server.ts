import { availableParallelism, hostname } from 'node:os';
import { join } from 'node:path';
import { iceServersPath } from '@bothost/contract';
import { hashDirectory } from '@bothost/runtime/directory-hash';
import type { Logger } from 'pino';
import { buildsInUse } from '../agents/builds-in-use.ts';
import { pinnedRevisions } from '../agents/pinned-revisions.ts';
import { serveDirectories } from '../agents/serve-directories.ts';
import { createRefusalLog } from '../audit/refusals.ts';
import { openBuilds } from '../builds/open.ts';
import { createRateLimit } from '../concurrency/rate-limit.ts';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import { forgetRegion, takeRegion } from '../instances/host.ts';
import { createSampler } from '../metrics/sampler.ts';
import { createTelemetry } from '../metrics/telemetry.ts';
import { createAuthenticator } from '../organizations/authenticate.ts';
import { homeOrganization } from '../organizations/first-start.ts';
import { createReconciler } from '../reconciler/reconciler.ts';
import { createSessionOwnership } from '../reconciler/session-ownership.ts';
import { pruneRevisions } from '../secrets/upkeep/prune.ts';
import { createSessionDirectory } from '../sessions/session-directory.ts';
import { defaultGraceSeconds } from '../settings.ts';
import { openStore } from '../store/open-store.ts';
import { createPersist } from '../store/persist.ts';
import { newId } from '../store/uuid.ts';
import { claimDataDirectory, deriveKey, openDataDirectory } from './data-directory.ts';
import { createEdge } from './edge.ts';
import { type MadeFirst, makeFirstOrganization } from './first-organization.ts';
import { addGauges } from './gauges.ts';
import { listen } from './listen.ts';
import { startPeriodicTasks } from './periodic-tasks.ts';
import { notReady } from './readiness.ts';
import { openRuntime } from './runtime.ts';
import { openSecrets } from './secrets.ts';
import { awaitServed, type ServedAgent } from './served-agents.ts';
import { shutDown } from './shut-down.ts';
import { createTeardown, type Teardown } from './teardown.ts';

export type RunningServer = {
  /** Where it listens, as in `http://127.0.0.1:7420`. */
  readonly url: string;
  /** Set on the first start only. */
  readonly firstStart: MadeFirst | null;
  readonly agents: readonly ServedAgent[];
  /** Ends live sessions after their grace, then instances and database; a second call ends the grace at once. */
  readonly close: () => Promise<void>;
  /** Stops this server's bots and lets go of everything without touching a record: another server has the region. */
  readonly abandon: () => Promise<void>;
  /** Resolves when the server cannot go on: it lost its region to another one. */
  readonly failed: Promise<Error>;
};

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
  const teardown = createTeardown(logger);
  try {
    return await compose(config, logger, teardown, stopping);
  } catch (error) {
    await teardown.endFailedStart();
    throw error;
  }
}

async function compose(
  config: Config,
  logger: Logger,
  teardown: Teardown,
  stopping: AbortSignal,
): Promise<RunningServer> {
  const isRoot = process.geteuid?.() === 0;
  const data = await openDataDirectory(config.dataDirectory, isRoot, config.secrets.rootKey);
  const claim = await claimDataDirectory(data.path);
  teardown.add(claim.release);
  let lost: (error: Error) => void = () => undefined;
  const failed = new Promise<Error>((resolve) => {
    lost = resolve;
  });
  const store = await openStore({
    databaseUrl: config.secrets.databaseUrl,
    dataDirectory: data.path,
    region: config.region,
    logger,
    onRegionLost: (error) => lost(error),
  });
  teardown.add(() => store.close(config.onStop === 'leave'));

  const { db, holdsRegion } = store;
  const now = () => new Date();
  const base = { db, now, newId, logger };
  const host = { id: data.id, region: config.region };
  const description = `process ${process.pid} on ${hostname()}, data directory ${data.path}`;
  const { lastHeartbeat, isAlone } = await takeRegion(base, { ...host, runtime: 'process', description });
  if (lastHeartbeat === null) teardown.addForFailedStart(() => forgetRegion(db, host));
  const secrets = await openSecrets({ ...base, host, isAlone }, config, data, teardown);
  const persist = createPersist(teardown.closing);
  const logsDirectory = join(data.path, 'logs');
  const runtime = await openRuntime({ ...base, host, persist, logsDirectory }, config, data.path, teardown);

  const serverId = newId();
  const telemetry = createTelemetry();
  const ownership = createSessionOwnership();
  const directory = createSessionDirectory(base);
  const sampler = createSampler({ ...base, usage: (ids) => runtime.sample(ids) });
  const authenticator = createAuthenticator(base);
  const controlTokenKey = deriveKey(data.rootKey, 'control-token');
  const traceKey = deriveKey(data.rootKey, 'log-traces');

  let url = '';
  let starting = true;
  let draining = false;
  const isDraining = () => draining;
  const reconciler = createReconciler({
    ...base,
    runtime,
    host,
    serverId,
    key: controlTokenKey,
    traceKey,
    keyring: secrets.keyring,
    iceConfigUrl: () => `${url}${iceServersPath}`,
    ownership,
    directory,
    sampler,
    telemetry,
    lastHeartbeat,
    persist,
    holdsRegion,
  });
  const builds = await openBuilds({
    ...base,
    host,
    runtime,
    persist,
    holdsRegion,
    isDraining,
    onOver: telemetry.buildOver,
    dataDirectory: data.path,
    uploadTokenKey: deriveKey(data.rootKey, 'upload-token'),
    timeoutSeconds: config.buildTimeoutSeconds,
    buildsAtOnce: config.buildsAtOnce ?? availableParallelism(),
    retention: { buildDays: config.buildRetentionDays, uploadHours: config.uploadRetentionHours },
    inUse: buildsInUse,
  });
  teardown.add(() => builds.worker.close());
  const context: Context = {
    ...base,
    ...secrets,
    host,
    hashDirectory,
    serverId,
    publicUrl: () => config.publicUrl ?? url,
    socketTokenKey: deriveKey(data.rootKey, 'socket-token'),
    controlTokenKey,
    traceKey,
    authenticator,
    ownership,
    directory,
    sampler,
    telemetry,
    reconciler,
    builds,
    refusals: createRefusalLog(base, createRateLimit(toldRefusals, now)),
    persist,
    announceRevocation: async (keyId) => {
      authenticator.forget(keyId);
      await store.notify('bothost_keys', keyId);
    },
    isDraining,
    outputs: runtime.outputs,
    logsDirectory,
    closing: teardown.closing,
  };
  addGauges(telemetry.registry, base);
  await store.subscribe('bothost_keys', (keyId) => authenticator.forget(keyId === '' ? undefined : keyId));

  const app = await createEdge(context, config, data.path, () =>
    notReady({ ...context, isStarting: () => starting, store, runtime }),
  );
  teardown.add(() => app.close());
  // From when it listens there may be sessions to look after.
  teardown.add(() => reconciler.close());
  url = await listen(app, config.host, config.port);
  // Only who has the address may say whose keys are good there: a start that fails leaves the profile as it is.
  const firstStart = await makeFirstOrganization(base, config, data.path, url);
  const home = await homeOrganization(base);
  const directories = { ...base, hashDirectory, keyring: secrets.keyring };
  const served = home === null ? [] : await serveDirectories(directories, home.id, host.region, config.agents);
  // From here on the keys of a first start are good, and agents are known.
  starting = false;
  // The sign of life begins when what died with the server before has its end: until then the last one is the truth.
  await reconciler.start();
  await builds.worker.start();
  const periodicTasks = startPeriodicTasks({
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
    pruneRevisions: () => pruneRevisions({ ...base, keyring: secrets.keyring, pinsOf: pinnedRevisions }),
    auditRetentionDays: config.auditRetentionDays,
    refusals: context.refusals,
  });
  teardown.add(() => periodicTasks.stop());
  const agents = await awaitServed(served, reconciler, stopping);

  const { close, abandon } = shutDown({
    ...context,
    runtime,
    teardown,
    leave: config.onStop === 'leave',
    graceSeconds: config.shutdownGraceSeconds ?? defaultGraceSeconds.otherwise,
    drain: () => {
      draining = true;
      reconciler.drain();
    },
  });
  return { url, agents, close, abandon, firstStart, failed };
}
