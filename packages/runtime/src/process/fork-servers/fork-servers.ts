import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { RuntimeLogger, StartMethod } from '../../runtime.ts';
import { type Isolation, makePassable } from '../containment/isolation.ts';
import type { KernelUnits } from '../containment/kernel-units.ts';
import type { BotProgram } from '../instances/bot-program.ts';
import type { EnvironmentOptions } from '../instances/environment.ts';
import type { RemovalContext } from '../instances/remove-instance.ts';
import { isolateFailure } from '../isolate-failure.ts';
import { readProportionalMemory } from '../proc/process-identity.ts';
import type { Project } from '../projects/prepared-project.ts';
import { fingerprint, forkServerEnvironment, type InstanceSource } from './fork-environment.ts';
import { type ForkServer, openForkServer, removeForkServer } from './fork-server.ts';
import { type ForkServerRecord, forkServerFiles, readForkServerRecord } from './fork-server-record.ts';
import { type ImportAttempt, type ImportFailure, nextImportAttempt } from './import-level.ts';
import { launchForkServer } from './launch-fork-server.ts';
import { openRememberedModules } from './remembered-modules.ts';
import { releaseOrphanedRanges } from './uid-ranges.ts';

/**
 * At most this many launches of a deployment per period. A fork server that keeps crashing, or whose environment keeps
 * changing, costs more than it saves.
 */
const LAUNCHES = 5;
const LAUNCH_PERIOD_MILLISECONDS = 10 * 60 * 1000;

export type ForkServersOptions = RemovalContext &
  Pick<EnvironmentOptions, 'path' | 'language' | 'timeZone'> & {
    readonly dataDirectory: string;
    readonly projectsDirectory: string;
    readonly isolation: Isolation;
    readonly units: KernelUnits;
    readonly bootId: string;
    readonly logger: RuntimeLogger;
    readonly now: () => Date;
    /** Memory limit of all fork servers together. */
    readonly memoryBytes: number;
    readonly importMilliseconds: number;
    readonly program: (project: Project) => Promise<BotProgram>;
  };

export type ForkServers = {
  /** Returns the fork server that can start this instance now, or null. */
  readonly find: (source: InstanceSource) => ForkServer | null;
  /**
   * Starts a fork server for later instances of the deployment in the background, unless one exists or cannot be
   * started.
   */
  readonly ensure: (source: Pick<InstanceSource, 'spec' | 'project'>) => void;
  /** Stops the fork servers of all other deployments, including unfinished imports. */
  readonly retain: (deploymentIds: ReadonlySet<string>) => Promise<void>;
  readonly startMethods: () => ReadonlyMap<string, StartMethod>;
  readonly forget: (project: string) => void;
  /** Whether the control group belongs to one of these fork servers. */
  readonly isKnown: (groupName: string) => boolean;
  /** Stops the least recently used fork servers until the remaining ones fit into the memory limit. */
  readonly limitMemory: () => Promise<void>;
  /** Closes the connections. Fork servers keep running so that the next server can adopt them. */
  readonly close: () => Promise<void>;
};

type Deployment = {
  readonly id: string;
  server: ForkServer | null;
  /** Why instances are spawned, or why only libraries are imported before the fork. */
  reason: string | null;
  /** Whether no further launch is attempted until the service restarts. */
  isHopeless: boolean;
  launching: Promise<void> | null;
  /** The fork server that is importing the bot. */
  importing: ForkServer | null;
  launchedAt: readonly number[];
  usedAt: number;
  /**
   * What is needed to restart the fork server when it dies. After a restart of the service, null until the next
   * instance.
   */
  source: Pick<InstanceSource, 'spec' | 'project'> | null;
};

/**
 * Adopts the fork servers that an earlier server with the same data directory started, and removes the
 * other fork servers.
 */
export async function openForkServers(options: ForkServersOptions): Promise<ForkServers> {
  const { isolation, logger } = options;
  const directory = join(options.dataDirectory, 'fork-servers');
  const deployments = new Map<string, Deployment>();
  const remembered = openRememberedModules(join(directory, 'modules'), (error) =>
    logger.warn({ err: error }, 'imported modules could not be stored'),
  );
  /** Launches and removals of fork servers in progress. */
  const pending = new Set<Promise<void>>();
  let isClosing = false;
  makePassable(directory);

  const isWanted = (deployment: Deployment) => !isClosing && deployments.get(deployment.id) === deployment;

  const track = (work: Promise<void>): Promise<void> => {
    const tracked = work.finally(() => pending.delete(tracked));
    pending.add(tracked);
    return tracked;
  };

  const deploymentOf = (id: string): Deployment => {
    const known = deployments.get(id) ?? {
      id,
      server: null,
      reason: null,
      isHopeless: false,
      launching: null,
      importing: null,
      launchedAt: [],
      usedAt: 0,
      source: null,
    };
    deployments.set(id, known);
    return known;
  };

  const remove = (id: string, record: ForkServerRecord | null) =>
    isolateFailure(logger, id, () =>
      removeForkServer(
        {
          ...options,
          onStuck: (pids) => logger.error({ pids, forkServer: id }, 'fork server could not be killed'),
        },
        forkServerFiles(directory, id),
        record,
      ),
    );

  const open = (record: ForkServerRecord, project: string | null): Promise<ForkServer | null> =>
    openForkServer({
      files: forkServerFiles(directory, record.id),
      record,
      onModules: (modules) => {
        const of = project ?? deployments.get(record.deploymentId)?.source?.project.project;
        if (of !== undefined) remembered.add(of, modules);
      },
      onEnded: (reason) => {
        const deployment = deployments.get(record.deploymentId);
        if (isClosing || deployment?.server?.record.id !== record.id) return;
        logger.warn({ deploymentId: deployment.id, reason }, 'fork server ended');
        void stop(deployment, reason).then(() => {
          if (deployment.source !== null) ensure(deployment.source);
        });
      },
    });

  const stop = async (deployment: Deployment, reason: string): Promise<void> => {
    const { server } = deployment;
    deployment.server = null;
    deployment.reason = reason;
    if (server === null) return;
    server.disconnect();
    await track(remove(server.record.id, server.record));
  };

  const attempt = async (
    deployment: Deployment,
    source: Pick<InstanceSource, 'spec' | 'project'>,
    { level, modules }: ImportAttempt,
  ): Promise<ForkServer | ImportFailure> => {
    const { spec, project } = source;
    const program = await options.program(project);
    const variables = await spec.environment();
    if (program.fork === null) return { reason: 'bots for Node are always spawned', modules: [] };
    if (isolation.ownAccounts && project.gid === null) return { reason: 'the project has no group', modules: [] };
    const record = await launchForkServer({
      ...options,
      ...program.fork,
      forkServersDirectory: directory,
      deploymentId: deployment.id,
      level,
      modules,
      gid: isolation.ownAccounts ? project.gid : null,
      limits: spec.limits,
      directory: join(options.projectsDirectory, project.project),
      environment: (home, instanceId) =>
        forkServerEnvironment({ ...options, home, instanceId }, { program, variables }),
      fingerprint: (salt) => fingerprint(salt, { spec, project, variables, program }),
    });
    const server = await open(record, project.project);
    if (server !== null && isWanted(deployment)) {
      deployment.importing = server;
      await server.imported(options.importMilliseconds);
      deployment.importing = null;
    }
    const status = server?.status();
    if (server !== null && status?.state === 'ready') return server;
    server?.disconnect();
    if (!isClosing) await remove(record.id, record);
    const seconds = options.importMilliseconds / 1000;
    const reason =
      status === undefined
        ? 'the supervisor of the fork server exited immediately'
        : (status.reason ?? `importing the bot took longer than ${seconds} seconds`);
    return { reason, modules: status?.modules ?? [] };
  };

  const launch = async (deployment: Deployment, source: Pick<InstanceSource, 'spec' | 'project'>): Promise<void> => {
    const failures: { attempt: ImportAttempt; failure: ImportFailure }[] = [];
    let next = nextImportAttempt(remembered.of(source.project.project), failures);
    while (next !== null && isWanted(deployment)) {
      const outcome = await attempt(deployment, source, next);
      if ('fork' in outcome) {
        const reason = next.level === 'module' ? null : (failures.at(-1)?.failure.reason ?? null);
        await started(deployment, outcome, reason);
        return;
      }
      failures.push({ attempt: next, failure: outcome });
      next = nextImportAttempt(remembered.of(source.project.project), failures);
    }
    if (!isWanted(deployment)) return;
    deployment.isHopeless = true;
    deployment.reason = failures.at(-1)?.failure.reason ?? null;
    logger.info({ deploymentId: deployment.id, reason: deployment.reason }, 'instances start without a fork server');
  };

  const started = async (deployment: Deployment, server: ForkServer, reason: string | null) => {
    if (!isWanted(deployment)) {
      server.disconnect();
      if (!isClosing) await remove(server.record.id, server.record);
      return;
    }
    deployment.server = server;
    deployment.reason = reason;
    deployment.usedAt = options.now().getTime();
    logger.info({ deploymentId: deployment.id, level: server.status().level, reason }, 'fork server started');
    await limitMemory();
  };

  const ensure = (source: Pick<InstanceSource, 'spec' | 'project'>): void => {
    const deployment = deploymentOf(source.spec.deploymentId);
    deployment.source = source;
    if (isClosing || deployment.launching !== null || deployment.isHopeless) return;
    if (source.spec.forks === false) {
      void stop(deployment, 'deploy.toml turns forking off');
      return;
    }
    if (deployment.server !== null) return;
    const now = options.now().getTime();
    const recent = deployment.launchedAt.filter((at) => at > now - LAUNCH_PERIOD_MILLISECONDS);
    if (recent.length >= LAUNCHES) return;
    deployment.launchedAt = [...recent, now];
    const launching = launch(deployment, source)
      .catch((error: unknown) => {
        deployment.reason = messageOf(error);
        logger.warn({ err: error, deploymentId: deployment.id }, 'fork server could not be started');
      })
      .finally(() => {
        deployment.launching = null;
      });
    deployment.launching = track(launching);
  };

  const limitMemory = async (): Promise<void> => {
    const running = [...deployments.values()].filter(({ server }) => server !== null);
    const byAge = running.sort((a, b) => a.usedAt - b.usedAt);
    let total = byAge.reduce((sum, { server }) => sum + memoryOf(server), 0);
    for (const deployment of byAge) {
      if (total <= options.memoryBytes) return;
      total -= memoryOf(deployment.server);
      logger.info({ deploymentId: deployment.id }, 'fork server stopped to free memory');
      await stop(deployment, 'stopped because fork servers reached their memory limit');
    }
  };

  const adopt = async (id: string): Promise<void> => {
    const files = forkServerFiles(directory, id);
    const record = readForkServerRecord(files);
    const server = record === null || record.bootId !== options.bootId ? null : await open(record, null);
    const status = server?.status();
    const deployment = record === null ? null : deploymentOf(record.deploymentId);
    if (server === null || deployment === null || deployment.server !== null || status?.state !== 'ready') {
      server?.disconnect();
      await remove(id, record);
      return;
    }
    deployment.server = server;
    logger.info({ deploymentId: deployment.id }, 'fork server adopted');
  };

  const ids = readdirSync(directory).filter((name) => /^[0-9a-f]{12}$/.test(name));
  await Promise.all(ids.map((id) => isolateFailure(logger, id, () => adopt(id))));
  releaseOrphanedRanges(
    options.reservationsDirectory,
    (owner) => dirname(owner) === directory && !existsSync(forkServerFiles(directory, basename(owner)).record),
  );

  return {
    find: (source) => {
      const deployment = deployments.get(source.spec.deploymentId);
      const server = deployment?.server ?? null;
      if (deployment === undefined || server === null || source.spec.forks === false) return null;
      const { state, fingerprint: known } = server.status();
      if (state !== 'ready') return null;
      if (known !== fingerprint(server.record.salt, source)) {
        void stop(deployment, 'its environment has changed');
        return null;
      }
      deployment.usedAt = options.now().getTime();
      return server;
    },
    ensure,
    retain: async (deploymentIds) => {
      const others = [...deployments.values()].filter(({ id }) => !deploymentIds.has(id));
      for (const deployment of others) deployments.delete(deployment.id);
      const end = async (deployment: Deployment) => {
        deployment.importing?.disconnect();
        await deployment.launching;
        await stop(deployment, 'the deployment gets no more instances');
      };
      await Promise.all(others.map(end));
    },
    startMethods: () => new Map([...deployments].map(([id, deployment]) => [id, describe(deployment)])),
    forget: remembered.forget,
    isKnown: (name) => existsSync(join(directory, name.replace(/^fork-server-/, ''))),
    limitMemory,
    close: async () => {
      isClosing = true;
      for (const { server, importing } of deployments.values()) {
        importing?.disconnect();
        server?.disconnect();
      }
      await Promise.all(pending);
    },
  };
}

function describe({ server, launching, reason }: Deployment): StartMethod {
  const status = server?.status();
  const waiting = 'no fork server has imported the bot yet';
  const isWaiting = launching !== null || (reason === null && status === undefined);
  return {
    level: status?.level ?? 'spawn',
    reason: isWaiting ? waiting : reason,
    memoryBytes: server === null ? null : memoryOf(server),
  };
}

/** Count proportional memory: a page that instances share counts in part. */
function memoryOf(server: ForkServer | null): number {
  const pid = server?.status().process?.pid;
  return pid === undefined ? 0 : (readProportionalMemory(pid) ?? 0);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
