import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { totalmem } from 'node:os';
import { basename, join } from 'node:path';
import { openTreeRemover } from '../remove-tree.ts';
import {
  type BuildLimits,
  PrepareError,
  type RunningInstance,
  type Runtime,
  RuntimeUnavailable,
  type Usage,
} from '../runtime.ts';
import { RESERVATIONS_DIRECTORY, releaseOrphanedUids } from './containment/accounts.ts';
import { closeCgroupHost, removeOrphanedCgroups } from './containment/cgroup-host.ts';
import {
  chooseIsolation,
  makePassable,
  requirePassable,
  TRIAL_ACCOUNT,
  usesOwnAccounts,
  warnAboutSharedAccount,
} from './containment/isolation.ts';
import { readKernelUnits } from './containment/kernel-units.ts';
import { type DiskConsumer, startDiskGuard } from './disk/disk-guard.ts';
import { openForkServers } from './fork-servers/fork-servers.ts';
import { readInstances } from './instances/adopt.ts';
import { botProgram } from './instances/bot-program.ts';
import { createInstanceEvents, exitedEvent } from './instances/events.ts';
import { type Instance, type InstanceOptions, openInstance } from './instances/instance.ts';
import { instanceFiles, readRecord, writableDirectories } from './instances/instance-record.ts';
import { removeInstance } from './instances/remove-instance.ts';
import { createStarter } from './instances/start.ts';
import { checkInstances, createTableSource, findWideListeners } from './instances/watchdog.ts';
import { isolateFailure } from './isolate-failure.ts';
import { memoize } from './memoize.ts';
import type { ProcessRuntimeOptions } from './options.ts';
import { createMonotonicClock } from './output/monotonic-clock.ts';
import { createOutputs } from './output/outputs.ts';
import { readBootId } from './proc/process-identity.ts';
import { findInterpreter } from './projects/interpreter.ts';
import { ownerOfOrganization } from './projects/owner.ts';
import { type Project, parsePrepared } from './projects/prepared-project.ts';
import { createPreparer } from './projects/preparer.ts';
import { openShim } from './projects/shim.ts';

const DEFAULT_POLL_MILLISECONDS = 1000;
const POLLS_PER_SOCKET_SCAN = 10;
/** Measures exact shares of memory this often. Each poll would be too often, because the kernel walks all pages. */
const POLLS_PER_MEMORY_CHECK = 60;
/** Time for init to reap orphaned processes while the runtime closes. */
const REAP_MILLISECONDS = 5000;
const DEFAULT_BUILDING: BuildLimits = {
  memoryBytes: 4 * 1024 * 1024 * 1024,
  cpuMillicores: 2000,
  timeoutMilliseconds: 30 * 60 * 1000,
  environment: {},
};
const DEFAULT_FORK_IMPORT_MILLISECONDS = 60_000;
const DEFAULT_OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024;
const DEFAULT_CACHE_LIMIT_BYTES = 10 * 1024 * 1024 * 1024;

/**
 * Runs instances as processes of this machine. Each is a child of its own supervisor and not of the server, so it
 * survives a restart of the server. The next server adopts it from its record in `<dataDirectory>/instances`. Requires
 * Linux for `/proc`. Rejects with `RuntimeUnavailable` if it cannot work on this machine.
 */
export async function createProcessRuntime(options: ProcessRuntimeOptions): Promise<Runtime> {
  if (process.platform !== 'linux') {
    throw new RuntimeUnavailable(
      `The "process" runtime needs /proc and therefore Linux. This machine runs ${process.platform}.`,
    );
  }
  const { dataDirectory, logger, now, disk = null } = options;
  const isRoot = process.geteuid?.() === 0;
  const instancesDirectory = join(dataDirectory, 'instances');
  if (mkdirSync(dataDirectory, { recursive: true }) !== undefined) chmodSync(dataDirectory, 0o711);
  if (usesOwnAccounts(isRoot, options.containment)) await requirePassable(dataDirectory);
  const isolation = await chooseIsolation(dataDirectory, isRoot, options.containment);
  makePassable(instancesDirectory);
  warnAboutSharedAccount(isolation, logger);
  const reservationsDirectory = options.reservationsDirectory ?? RESERVATIONS_DIRECTORY;
  const removeTree =
    options.removeTree ?? openTreeRemover({ quarantineDirectory: join(dataDirectory, 'quarantine'), logger });
  const removal = { reservationsDirectory, removeTree };
  const units = readKernelUnits();
  const bootId = readBootId();
  const events = createInstanceEvents(now);
  const clock = createMonotonicClock(now);
  const instances = new Map<string, Instance>();
  const knownWide = new Set<Instance>();
  const opening = {
    units,
    now,
    clock,
    searchPath: options.path,
    outputLimitBytes: options.outputLimitBytes ?? DEFAULT_OUTPUT_LIMIT_BYTES,
  };

  const interpreter = memoize(() =>
    findInterpreter({
      preferred: options.interpreter ?? process.execPath,
      path: options.path,
      account: isolation.ownAccounts ? TRIAL_ACCOUNT : null,
    }),
  );

  const open = (found: OpenedInstance): Instance => {
    const { instanceId } = found.record;
    const instance = openInstance({
      ...opening,
      ...found,
      onDropped: (bytes) =>
        events.noticed(
          instanceId,
          'output-dropped',
          `the output exceeds its limit: ${bytes} bytes were dropped so far`,
        ),
      onEnded: (end) => {
        knownWide.delete(instance);
        if (instances.get(instanceId) !== instance) return;
        // An earlier server was killed before it called `go`, so the bot never ran.
        if (!instance.hasRun()) instances.delete(instanceId);
        else events.ended(instanceId, end);
      },
      onError: (error, message) => logger.error({ err: error, instanceId }, message),
    });
    return instance;
  };

  if (isolation.ownAccounts) {
    const accountOf = (owner: string) =>
      readRecord(instanceFiles(instancesDirectory, basename(owner)))?.account?.uid ?? null;
    releaseOrphanedUids(reservationsDirectory, instancesDirectory, accountOf);
  }
  const shim = memoize(() => openShim(dataDirectory, options.shimPackage));
  const building = options.building ?? DEFAULT_BUILDING;
  const preparer = createPreparer({
    ...options,
    language: options.language,
    timeZone: options.timeZone,
    ...removal,
    isolation,
    bootId,
    interpreter,
    shim,
    limits: building,
    timeoutMilliseconds: building.timeoutMilliseconds,
    diskBytes: disk?.buildBytes ?? null,
    passed: building.environment,
    installsUv: building.installsUv === true,
    cacheLimitBytes: options.cacheLimitBytes ?? DEFAULT_CACHE_LIMIT_BYTES,
    open: (found) =>
      openInstance({
        ...opening,
        ...found,
        onDropped: () => undefined,
        onEnded: () => undefined,
        onError: (error, message) =>
          logger.error({ err: error, builder: found.record.instanceId }, `build: ${message}`),
      }),
  });
  await preparer.cleanUp();
  const earlier = await readInstances(instancesDirectory, { bootId, now: now(), logger });
  await Promise.all(
    earlier.garbage.map((files) => isolateFailure(logger, files.directory, () => removeInstance(removal, files))),
  );
  for (const found of earlier.instances) {
    await isolateFailure(logger, found.files.directory, () => {
      instances.set(found.record.instanceId, open({ ...found, child: null }));
    });
  }
  if (instances.size > 0) logger.info({ instances: instances.size }, 'instances of an earlier server adopted');

  const noticeWide = (instance: Instance, host: string): void => {
    if (knownWide.has(instance)) return;
    knownWide.add(instance);
    const { instanceId, port } = instance.record();
    events.noticed(instanceId, 'listens-wide', `it listens on ${host}, port ${port}, instead of 127.0.0.1`);
  };

  const program = (project: Project) => botProgram({ ...preparer.store, interpreter, shim }, project);
  const forkServers = await openForkServers({
    ...removal,
    path: options.path,
    language: options.language,
    timeZone: options.timeZone,
    dataDirectory,
    projectsDirectory: preparer.store.projectsDirectory,
    isolation,
    units,
    bootId,
    logger,
    now,
    memoryBytes: options.forkServerMemoryBytes ?? totalmem() / 4,
    importMilliseconds: options.forkImportMilliseconds ?? DEFAULT_FORK_IMPORT_MILLISECONDS,
    program,
  });
  const starter = createStarter({
    ...removal,
    options,
    instances,
    instancesDirectory,
    projectsDirectory: preparer.store.projectsDirectory,
    isolation,
    bootId,
    program,
    forkServers,
    open,
    noticed: events.noticed,
    noticeWide,
  });

  /**
   * An instance is known while its directory exists, which is created before the control groups and removed after them.
   */
  const isKnown = (name: string) =>
    existsSync(instanceFiles(instancesDirectory, name).directory) ||
    preparer.isKnown(name) ||
    forkServers.isKnown(name);

  const diskConsumers = (instanceBytes: number): readonly DiskConsumer[] =>
    [...instances.values()]
      .filter((instance) => instance.end() === null)
      .map((instance) => ({
        id: instance.record().instanceId,
        kind: 'instance',
        owner: instance.record().owner ?? null,
        limitBytes: instanceBytes,
        foundBytes: 0,
        directories: () => writableDirectories(instance.files),
        pids: (table) => instance.containment.members(table).map(({ pid }) => pid),
        end: instance.killForDisk,
      }));
  const diskGuard =
    disk === null
      ? null
      : startDiskGuard({
          dataDirectory,
          limits: disk,
          consumers: () => [...diskConsumers(disk.instanceBytes), ...preparer.disk.consumers()],
          stored: preparer.disk.stored,
          logger,
        });

  let polls = 0;
  const timer = setInterval(() => {
    try {
      polls++;
      const all = [...instances.values()];
      checkInstances([...all, ...preparer.running()]);
      if (polls % POLLS_PER_SOCKET_SCAN === 0) {
        findWideListeners({ instances: all, knownWide, onWide: noticeWide });
        if (isolation.cgroups !== null) removeOrphanedCgroups(isolation.cgroups, isKnown);
      }
      if (polls % POLLS_PER_MEMORY_CHECK === 0) void forkServers.limitMemory();
    } catch (error) {
      logger.error({ err: error }, 'instances could not be checked');
    }
  }, options.pollMilliseconds ?? DEFAULT_POLL_MILLISECONDS);
  timer.unref();
  const closing = new AbortController();

  return {
    prepare: async (spec, output, signal) => {
      requireId(spec.id);
      return preparer.prepare(spec, output, signal);
    },
    start: (spec, signal) => {
      requireId(spec.instanceId);
      return starter.start(spec, signal);
    },
    stop: async (instanceId, grace) => {
      await starter.cancel(instanceId);
      await instances.get(instanceId)?.stop(grace);
    },
    list: async () => [...instances.values()].filter((instance) => instance.end() === null).map(describeRunning),
    watch: (signal) => events.watch(() => endedInOrder(instances), AbortSignal.any([signal, closing.signal])),
    sample: async (instanceIds) => {
      const table = createTableSource();
      const usages = new Map<string, Usage>();
      for (const instanceId of instanceIds) {
        const instance = instances.get(instanceId);
        const usage = instance === undefined || instance.end() !== null ? null : instance.containment.usage(table);
        if (usage !== null) usages.set(instanceId, usage);
      }
      return usages;
    },
    diskUsage: async (organizationId) => diskGuard?.usedBytes(ownerOfOrganization(organizationId)) ?? 0,
    outputs: createOutputs({ instances, instancesDirectory, clock, removeTree }),
    forget: async (instanceId) => {
      requireId(instanceId);
      const instance = instances.get(instanceId);
      if (instance !== undefined && instance.end() === null) throw new Error(`Instance ${instanceId} still runs.`);
      instances.delete(instanceId);
      await removeInstance(removal, instanceFiles(instancesDirectory, instanceId));
    },
    discard: async (prepared) => {
      const project = parsePrepared(prepared);
      requireId(project.project);
      await preparer.discard(project);
      forkServers.forget(project.project);
    },
    retain: forkServers.retain,
    startMethods: forkServers.startMethods,
    close: async () => {
      clearInterval(timer);
      closing.abort();
      await forkServers.close();
      await diskGuard?.close();
      await preparer.close();
      await Promise.all([...instances.values()].map((instance) => instance.close()));
      if (isolation.cgroups !== null) await closeCgroupHost(isolation.cgroups, isKnown, REAP_MILLISECONDS);
    },
  };
}

type OpenedInstance = Pick<InstanceOptions, 'files' | 'record' | 'supervisor' | 'child' | 'end'>;

function describeRunning(instance: Instance): RunningInstance {
  const { instanceId, deploymentId, address } = instance.record();
  return { instanceId, deploymentId, address };
}

function endedInOrder(instances: ReadonlyMap<string, Instance>) {
  const ended = [...instances.values()].flatMap((instance) => {
    const end = instance.end();
    return end === null ? [] : [exitedEvent(instance.record().instanceId, end)];
  });
  return ended.sort((a, b) => a.at.getTime() - b.at.getTime());
}

/** Instance ids are names of directories and control groups. */
function requireId(id: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(id)) throw new PrepareError(`"${id}" is not a valid id.`);
}
