import type { DirectoryTreeRemover, Runtime } from '@bothost/runtime';
import { createFirstInvitation } from '../accounts/links.ts';
import { recordSourceProblems } from '../agents/record-source-problems.ts';
import { findPinnedSecretRevisions } from '../agents/secret-pins.ts';
import { type DirectoryServingResult, serveDirectoriesAsAgents } from '../agents/serve-directories.ts';
import { evaluateAlerts } from '../alerts/evaluate.ts';
import type { Config } from '../config.ts';
import type { ServiceContext } from '../context.ts';
import { resolveHostBySystem } from '../http-client/ssrf-safe-agent.ts';
import { findOldestOrganization } from '../organizations/first-start.ts';
import { pruneRevisions } from '../secrets/maintenance/prune.ts';
import type { Store } from '../store/open-store.ts';
import { startWebhookWorker } from '../webhooks/worker.ts';
import { createServiceContext, type ServiceLifecycleState } from './create-context.ts';
import { createFirstOrganization, type FirstOrganization } from './first-organization.ts';
import { addGauges } from './gauges.ts';
import { createHttpServer } from './http-server.ts';
import { subscribeToRevocations } from './key-revocations.ts';
import { startListening } from './listen.ts';
import { startPeriodicTasks } from './periodic-tasks.ts';
import { findReadinessProblem } from './readiness.ts';
import { getRuntimeDriver } from './runtime-driver.ts';
import { type DirectoryAgentStatus, waitUntilDirectoryAgentsServe } from './served-agents.ts';
import type { ServerStorage } from './server-storage.ts';
import { createShutdown } from './shutdown.ts';
import type { Teardown } from './teardown.ts';

export type RunningServer = {
  /** URL of the service, such as `http://127.0.0.1:7420`. */
  readonly url: string;
  /** URL at which clients reach the service. */
  readonly publicUrl: string;
  /** Whether the service listens on all addresses, but the URLs in its responses have the loopback address. */
  readonly isReachableOnlyHere: boolean;
  /** Keys created on the first start. Null on later starts. */
  readonly firstStart: FirstOrganization | null;
  readonly agents: readonly DirectoryAgentStatus[];
  /** Creates a one-time link for the first account. Null if the organization already has members. */
  readonly createFirstInvitation: () => Promise<string | null>;
  /**
   * Ends live sessions after the grace period, then stops the other parts of the service. A second call ends the grace
   * period.
   */
  readonly close: () => Promise<void>;
  /** Kills this server's bots without writing to the database, because another server has taken the region. */
  readonly abandon: () => Promise<void>;
  /** Resolves if this server cannot continue because another server has taken its region. */
  readonly failed: Promise<Error>;
};

/**
 * Composition root: opens the parts of the service in dependency order and starts them. For each agent directory in the
 * configuration, waits until the agent is ready or has failed, which may take minutes. Stops waiting if `stopping` aborts.
 */
export async function composeServer(
  serverStorage: ServerStorage,
  config: Config,
  teardown: Teardown,
  stopping: AbortSignal,
): Promise<RunningServer> {
  const state: ServiceLifecycleState = { url: '', isStarting: true, isDraining: false };
  const dataDirectory = serverStorage.data.path;
  const { context, runtime, removeTree } = await createServiceContext(serverStorage, config, state, teardown);
  const parts: Parts = {
    context,
    runtime,
    removeTree,
    store: serverStorage.store,
    dataDirectory,
    config,
    state,
    teardown,
  };
  await subscribeToRevocations({ ...context, store: serverStorage.store });
  state.url = await listen(parts);
  // Write the profile only after the server listens, because the profile contains the server's URL.
  const firstStart = await createFirstOrganization(context, config, dataDirectory);
  const served = await serveOwnDirectories(parts);
  // The service is ready now: the agents from configured directories are registered, and if this is the first start of the
  // service, the first organization and its API keys exist.
  state.isStarting = false;
  // Start waiting for the outcomes of deployments before the reconciler starts, so that no outcome is missed.
  const agents = waitUntilDirectoryAgentsServe(served, context.reconciler, stopping);
  await startWork(parts);
  const publicUrl = context.serviceUrl();
  const invite = async () => {
    const home = await findOldestOrganization(context);
    return home === null ? null : createFirstInvitation(context, { organizationId: home.id, serviceUrl: publicUrl });
  };
  const { regionLost: failed } = serverStorage;
  return {
    url: state.url,
    publicUrl,
    isReachableOnlyHere: hasOnlyLoopbackUrl(config),
    agents: await agents,
    firstStart,
    createFirstInvitation: invite,
    failed,
    ...endOf(parts),
  };
}

/** Without a public URL and trusted proxies, URLs have the address to listen on, or loopback if that is a wildcard. */
function hasOnlyLoopbackUrl({ host, publicUrl, trustedProxies }: Config): boolean {
  const isProxied = typeof trustedProxies === 'number' || trustedProxies.length > 0;
  return publicUrl === undefined && !isProxied && ['0.0.0.0', '::'].includes(host);
}

/** A receiver that takes longer has to answer first and work later, as Standard Webhooks recommends. */
const webhookTimeoutMs = 15_000;

type Parts = {
  readonly context: ServiceContext;
  readonly runtime: Runtime;
  readonly removeTree: DirectoryTreeRemover;
  readonly store: Store;
  readonly dataDirectory: string;
  readonly config: Config;
  readonly state: ServiceLifecycleState;
  readonly teardown: Teardown;
};

/** Starts to listen and returns the URL. The readiness probe reports that the service is not ready yet. */
async function listen({ context, runtime, store, dataDirectory, config, state, teardown }: Parts): Promise<string> {
  addGauges(context.telemetry.registry, context);
  const app = await createHttpServer(
    context,
    config,
    dataDirectory,
    () => state.url,
    () => findReadinessProblem({ ...context, isStarting: () => state.isStarting, store, runtime }),
  );
  teardown.add(() => app.close());
  // From now on, requests may start sessions, so a teardown must also close the reconciler.
  teardown.add(() => context.reconciler.close());
  return startListening(app, config.host, config.port);
}

async function serveOwnDirectories({ context, config }: Parts): Promise<readonly DirectoryServingResult[]> {
  if (context.host.accepts === 'image') return [];
  const home = await findOldestOrganization(context);
  return home === null ? [] : serveDirectoriesAsAgents(context, home.id, context.host.region, config.agents);
}

async function startWork({ context, removeTree, config, teardown }: Parts): Promise<void> {
  await recordSourceProblems(context, context.host);
  // Start the heartbeat only after the reconciler has ended the sessions that the previous server process lost. Their end time
  // is the last heartbeat of that process.
  await context.reconciler.start();
  await context.builds.worker.start();
  const webhooks = startWebhookWorker({ ...context, resolveHost: resolveHostBySystem, timeoutMs: webhookTimeoutMs });
  teardown.add(() => webhooks.close());
  const periodicTasks = startPeriodicTasks({
    ...context,
    removeTree,
    sampleSeconds: getRuntimeDriver(config.runtime).traits.sampleSeconds,
    retentionDays: config.retentionDays,
    logs: {
      logsDirectory: context.logsDirectory,
      days: config.logRetentionDays,
      totalBytes: config.logTotalBytes,
    },
    conversations: {
      conversationsDirectory: context.conversationsDirectory,
      lineDays: config.conversationRetentionDays,
      recordingDays: config.recordingRetentionDays,
    },
    removeUnusedBuilds: context.builds.removeUnused,
    pruneRevisions: () => pruneRevisions({ ...context, pinsOf: findPinnedSecretRevisions }),
    auditRetentionDays: config.auditRetentionDays,
    webhookRetentionDays: config.webhookRetentionDays,
    evaluateAlerts: () => evaluateAlerts(context),
  });
  teardown.add(() => periodicTasks.stop());
}

function endOf({ context, runtime, config, state, teardown }: Parts): Pick<RunningServer, 'close' | 'abandon'> {
  return createShutdown({
    ...context,
    runtime,
    teardown,
    leave: config.onStop === 'leave',
    graceSeconds: config.shutdownGraceSeconds,
    rejectSessions: () => {
      state.isDraining = true;
    },
    drain: () => context.reconciler.drain(),
  });
}
