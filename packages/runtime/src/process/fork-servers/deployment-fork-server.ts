import type { InstanceStartMethod } from '../../runtime.ts';
import { readProportionalMemoryBytes } from '../proc/process-identity.ts';
import { type ForkServerRecord, getForkServerFiles } from '../records/fork-server-record.ts';
import { hashEnvironment, type InstanceLaunchInput } from './fork-environment.ts';
import { type ForkServer, openForkServer } from './fork-server.ts';
import { type BotImportContext, type ForkServerLaunchInput, importBot } from './import-bot.ts';
import type { ImportedModuleStore } from './imported-module-store.ts';
import { createForkServerLauncher, type ForkServerLauncherContext } from './launcher.ts';

/**
 * Milliseconds for which a deployment launches no new fork server after its fork server was stopped to free memory. Without this
 * pause, two deployments could keep evicting each other's fork servers.
 */
const evictedMs = 10 * 60 * 1000;
/** Modules that a session must newly import before a replacement is worth a launch, which costs a second of CPU time. */
const replacingModules = 20;

export type DeploymentForkServerContext = BotImportContext &
  ForkServerLauncherContext & {
    readonly remembered: Pick<ImportedModuleStore, 'of' | 'add'>;
    readonly onStarted: (deploymentId: string) => Promise<void>;
  };

/** The fork server of a deployment, and how the deployment's instances are started. */
export type DeploymentForkServer = {
  readonly id: string;
  readonly isReady: () => boolean;
  /** Returns the fork server that can start this instance now, or null. */
  readonly find: (instance: InstanceLaunchInput) => ForkServer | null;
  /** Starts a fork server in the background, if the deployment has none and may launch one now. */
  readonly ensure: (source: ForkServerLaunchInput) => void;
  /** Adopts a fork server of a previous server process. Returns false if it is not ready, or the deployment already has another. */
  readonly adopt: (record: ForkServerRecord) => Promise<boolean>;
  /** Stops the fork server to free memory. */
  readonly evict: () => Promise<void>;
  /** Stops the fork server permanently. If the fork server is still importing the bot, aborts the import. */
  readonly discard: () => Promise<void>;
  readonly disconnect: () => void;
  readonly describe: () => InstanceStartMethod;
  /** Proportional set size of the fork server: a page that it shares with instances counts in part. Null without one. */
  readonly memoryBytes: () => number | null;
  /** The time at which the fork server last forked an instance, in milliseconds since the epoch. */
  readonly usedAt: () => number;
};

export function createDeploymentForkServer(context: DeploymentForkServerContext, id: string): DeploymentForkServer {
  const { logger, closing, remembered } = context;
  const discarded = new AbortController();
  const unwanted = AbortSignal.any([discarded.signal, closing]);
  let server: ForkServer | null = null;
  /** Why the fork server is missing or has imported only libraries. Null if it has imported the bot, or the reason is unknown. */
  let reason: string | null = null;
  let usedAt = 0;
  /** What is needed to launch a fork server, from the last started instance. Null until this process has started one. */
  let latest: ForkServerLaunchInput | null = null;
  const launcher = createForkServerLauncher(context, id, (why) => {
    reason = why;
  });

  const connect = (record: ForkServerRecord, project: string | null): Promise<ForkServer | null> =>
    openForkServer({
      files: getForkServerFiles(context.forkServersDirectory, record.id),
      record,
      onModules: (modules) => {
        const of = project ?? latest?.project.project;
        if (of !== undefined && remembered.add(of, modules) >= replacingModules) replace();
      },
      onEnded: (why) => {
        if (unwanted.aborted || server?.record.id !== record.id) return;
        logger.warn({ deploymentId: id, reason: why }, 'fork server ended');
        void stop(why).then(() => {
          if (latest !== null) ensure(latest);
        });
      },
    });

  const stop = async (why: string): Promise<void> => {
    const stopped = server;
    server = null;
    reason = why;
    if (stopped === null) return;
    stopped.disconnect();
    await context.track(context.remove(stopped.record.id, stopped.record));
  };

  const use = async (next: ForkServer, why: string | null): Promise<void> => {
    const former = server;
    server = next;
    reason = why;
    launcher.succeeded();
    usedAt = context.now().getTime();
    logger.info({ deploymentId: id, level: next.status().level, reason }, 'fork server started');
    await drop(context, former);
    await context.onStarted(id);
  };

  const launch = async (source: ForkServerLaunchInput): Promise<void> => {
    const imported = await importBot(context, source, connect, unwanted);
    if (server !== null && imported.server?.status().level !== server.status().level) {
      logger.info({ deploymentId: id, reason: imported.reason }, 'fork server could not be replaced');
      await drop(context, imported.server);
    } else if (imported.isFinal) {
      launcher.pause(Number.POSITIVE_INFINITY);
      reason = imported.reason;
    } else if (unwanted.aborted) await drop(context, imported.server);
    else if (imported.server === null) launcher.failed(imported.reason);
    else await use(imported.server, imported.reason);
  };

  const ensure = (source: ForkServerLaunchInput): void => {
    latest = source;
    if (unwanted.aborted || launcher.running() !== null) return;
    if (source.spec.forks === false) {
      void stop('deploy.toml turns forking off');
      return;
    }
    if (server === null && !launcher.isPaused()) launcher.start(() => launch(source));
  };

  /** Launches a fork server that also imports the sessions' modules. The old one forks instances until the new one is ready. */
  const replace = (): void => {
    const source = latest;
    if (source === null || server === null || unwanted.aborted || launcher.running() !== null) return;
    launcher.start(() => launch(source));
  };

  return {
    id,
    isReady: () => server?.status().state === 'ready',
    find: (instance) => {
      if (server === null || instance.spec.forks === false) return null;
      const { state, fingerprint: known } = server.status();
      if (state !== 'ready') return null;
      if (known !== hashEnvironment(server.record.salt, context, instance)) {
        void stop('the environment of the deployment has changed');
        return null;
      }
      usedAt = context.now().getTime();
      return server;
    },
    ensure,
    adopt: async (record) => {
      const adopted = record.bootId === context.bootId ? await connect(record, null) : null;
      if (adopted === null || server !== null || adopted.status().state !== 'ready') {
        adopted?.disconnect();
        return false;
      }
      server = adopted;
      logger.info({ deploymentId: id }, 'fork server adopted');
      return true;
    },
    evict: async () => {
      logger.info({ deploymentId: id }, 'fork server stopped to free memory');
      launcher.pause(evictedMs);
      await stop('stopped because fork servers reached their memory limit');
    },
    discard: async () => {
      discarded.abort();
      await launcher.running();
      await stop('the deployment gets no more instances');
    },
    disconnect: () => server?.disconnect(),
    describe: () => ({
      level: server?.status().level ?? 'spawn',
      reason:
        server === null && (launcher.running() !== null || reason === null)
          ? 'no fork server has imported the bot yet'
          : reason,
      memoryBytes: memoryOf(server),
    }),
    memoryBytes: () => memoryOf(server),
    usedAt: () => usedAt,
  };
}

/** Stops an unneeded fork server. On shutdown, only disconnects, because the next server process adopts it. */
async function drop(context: DeploymentForkServerContext, server: ForkServer | null): Promise<void> {
  if (server === null) return;
  server.disconnect();
  if (!context.closing.aborted) await context.remove(server.record.id, server.record);
}

function memoryOf(server: ForkServer | null): number | null {
  if (server === null) return null;
  const pid = server.status().process?.pid;
  return pid === undefined ? 0 : (readProportionalMemoryBytes(pid) ?? 0);
}
