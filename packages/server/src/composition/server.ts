import type { RemoveTree, Runtime } from '@bothost/runtime';
import type { Logger } from 'pino';
import { pinnedRevisions } from '../agents/pinned-revisions.ts';
import { type ServedDirectory, serveDirectories } from '../agents/serve-directories.ts';
import type { Config } from '../config.ts';
import type { Context } from '../context.ts';
import { homeOrganization } from '../organizations/first-start.ts';
import { pruneRevisions } from '../secrets/maintenance/prune.ts';
import { defaultGraceSeconds } from '../settings.ts';
import type { Store } from '../store/open-store.ts';
import { createContext, type ServiceState } from './create-context.ts';
import { createEdge } from './edge.ts';
import { type MadeFirst, makeFirstOrganization } from './first-organization.ts';
import { openFoundation } from './foundation.ts';
import { addGauges } from './gauges.ts';
import { listen } from './listen.ts';
import { startPeriodicTasks } from './periodic-tasks.ts';
import { notReady } from './readiness.ts';
import { awaitServed, type ServedAgent } from './served-agents.ts';
import { shutDown } from './shut-down.ts';
import { createTeardown, type Teardown } from './teardown.ts';

export type RunningServer = {
  /** URL of the service, such as `http://127.0.0.1:7420`. */
  readonly url: string;
  /** Set on the first start only. */
  readonly firstStart: MadeFirst | null;
  readonly agents: readonly ServedAgent[];
  /** Ends live sessions after their grace, then instances and database; a second call ends the grace at once. */
  readonly close: () => Promise<void>;
  /** Kills this server's bots and closes without changing a record, because another server has taken the region. */
  readonly abandon: () => Promise<void>;
  /** Resolves when the server cannot continue because it lost its region to another one. */
  readonly failed: Promise<Error>;
};

/**
 * Composition root: opens all parts in order of their dependencies, starts them, and tears them down if a step fails.
 * Waits until the agents from directories serve, which may take minutes, or until `stopping`.
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
  const state: ServiceState = { url: '', isStarting: true, isDraining: false };
  const foundation = await openFoundation(config, logger, teardown);
  const dataDirectory = foundation.data.path;
  const { context, runtime, removeTree } = await createContext(foundation, config, state, teardown);
  const parts: Parts = {
    context,
    runtime,
    removeTree,
    store: foundation.store,
    dataDirectory,
    config,
    state,
    teardown,
  };
  await subscribeToRevocations(parts);
  state.url = await openEdge(parts);
  // Only a server that has bound its address may write the profile, which names that address.
  const firstStart = await makeFirstOrganization(context, config, dataDirectory, state.url);
  const served = await serveOwnDirectories(parts);
  // From here on the keys of a first start are valid, and agents are known.
  state.isStarting = false;
  await startWork(parts);
  const agents = await awaitServed(served, context.reconciler, stopping);
  return { url: state.url, agents, firstStart, failed: foundation.regionLost, ...endOf(parts) };
}

type Parts = {
  readonly context: Context;
  readonly runtime: Runtime;
  readonly removeTree: RemoveTree;
  readonly store: Store;
  readonly dataDirectory: string;
  readonly config: Config;
  readonly state: ServiceState;
  readonly teardown: Teardown;
};

/** Other servers announce revoked keys; an empty message follows a gap in the announcements. */
async function subscribeToRevocations({ context, store }: Parts): Promise<void> {
  await store.subscribe('bothost_keys', (keyId) => context.authenticator.forget(keyId === '' ? undefined : keyId));
}

/** Listens for requests, which the readiness probe reports as not ready yet. Returns the URL. */
async function openEdge({ context, runtime, store, dataDirectory, config, state, teardown }: Parts): Promise<string> {
  addGauges(context.telemetry.registry, context);
  const app = await createEdge(
    context,
    config,
    dataDirectory,
    () => state.url,
    () => notReady({ ...context, isStarting: () => state.isStarting, store, runtime }),
  );
  teardown.add(() => app.close());
  // Requests may start sessions from now on, so the reconciler is closed from now on, too.
  teardown.add(() => context.reconciler.close());
  return listen(app, config.host, config.port);
}

async function serveOwnDirectories({ context, config }: Parts): Promise<readonly ServedDirectory[]> {
  const home = await homeOrganization(context);
  return home === null ? [] : serveDirectories(context, home.id, context.host.region, config.agents);
}

async function startWork({ context, removeTree, config, teardown }: Parts): Promise<void> {
  // The heartbeat begins after sessions of the former server have ended: until then its last heartbeat dates their end.
  await context.reconciler.start();
  await context.builds.worker.start();
  const periodicTasks = startPeriodicTasks({
    ...context,
    removeTree,
    retentionDays: config.retentionDays,
    logs: {
      logsDirectory: context.logsDirectory,
      days: config.logRetentionDays,
      totalBytes: config.logTotalMegabytes * 1024 * 1024,
    },
    removeUnusedBuilds: context.builds.removeUnused,
    pruneRevisions: () => pruneRevisions({ ...context, pinsOf: pinnedRevisions }),
    auditRetentionDays: config.auditRetentionDays,
  });
  teardown.add(() => periodicTasks.stop());
}

function endOf({ context, runtime, config, state, teardown }: Parts): Pick<RunningServer, 'close' | 'abandon'> {
  return shutDown({
    ...context,
    runtime,
    teardown,
    leave: config.onStop === 'leave',
    graceSeconds: config.shutdownGraceSeconds ?? defaultGraceSeconds.otherwise,
    drain: () => {
      state.isDraining = true;
      context.reconciler.drain();
    },
  });
}
