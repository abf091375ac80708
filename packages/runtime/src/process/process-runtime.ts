import { chmodSync, existsSync, mkdirSync } from 'node:fs';
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
import { RESERVATIONS_DIRECTORY, releaseForgotten } from './containment/accounts.ts';
import { closeCgroupHost, sweepCgroups } from './containment/cgroup-host.ts';
import {
  chooseIsolation,
  makePassable,
  requirePassable,
  TRIAL_ACCOUNT,
  usesOwnAccounts,
  warnOfAccounts,
} from './containment/isolation.ts';
import { readKernelUnits } from './containment/kernel-units.ts';
import { findInstances } from './instances/adopt.ts';
import { botProgram } from './instances/bot-program.ts';
import { createInstanceEvents, exitedEvent } from './instances/events.ts';
import { type Instance, type InstanceOptions, openInstance } from './instances/instance.ts';
import { instanceFiles, readRecord } from './instances/instance-record.ts';
import { removeInstance } from './instances/remove-instance.ts';
import { createStarter } from './instances/start.ts';
import { checkInstances, findWideListeners, tableOnce } from './instances/watchdog.ts';
import { isolateFailure } from './isolate-failure.ts';
import { memoize } from './memoize.ts';
import type { ProcessRuntimeOptions } from './options.ts';
import { createMonotonicClock } from './output/monotonic-clock.ts';
import { createOutputs } from './output/outputs.ts';
import { readBootId } from './proc/process-identity.ts';
import { findInterpreter } from './projects/interpreter.ts';
import { parsePrepared } from './projects/prepared-project.ts';
import { createPreparer } from './projects/preparer.ts';
import { openShim } from './projects/shim.ts';

const DEFAULT_ROUND_MILLISECONDS = 1000;
const ROUNDS_PER_LOOK_AT_LISTENERS = 10;
/** How long an orphan may wait for init, at the end. */
const ORPHANS_MILLISECONDS = 5000;
const DEFAULT_BUILDING: BuildLimits = {
  memoryBytes: 4 * 1024 * 1024 * 1024,
  cpuMillicores: 2000,
  timeoutMilliseconds: 30 * 60 * 1000,
  environment: {},
};
const DEFAULT_OUTPUT_LIMIT_BYTES = 64 * 1024 * 1024;

/**
 * Runs instances as processes of this machine. They are children of a shell of their own and not of the server, so they go
 * on when it dies; what the next server must know of them is in `<dataDirectory>/instances`. Linux only, for `/proc`.
 * Rejects with `RuntimeUnavailable` where it cannot work.
 */
export async function createProcessRuntime(options: ProcessRuntimeOptions): Promise<Runtime> {
  if (process.platform !== 'linux') {
    throw new RuntimeUnavailable(
      `The "process" runtime needs Linux, as it watches bots through /proc; this is ${process.platform}.`,
    );
  }
  const { dataDirectory, logger, now } = options;
  const isRoot = process.geteuid?.() === 0;
  const instancesDirectory = join(dataDirectory, 'instances');
  if (mkdirSync(dataDirectory, { recursive: true }) !== undefined) chmodSync(dataDirectory, 0o711);
  if (usesOwnAccounts(isRoot, options.containment)) await requirePassable(dataDirectory);
  const isolation = await chooseIsolation(dataDirectory, isRoot, options.containment);
  makePassable(instancesDirectory);
  warnOfAccounts(isolation, logger);
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
        events.noticed(instanceId, 'output-dropped', `its output passed the limit, ${bytes} bytes were dropped so far`),
      onEnded: (end) => {
        knownWide.delete(instance);
        if (instances.get(instanceId) !== instance) return;
        // The server before this one was killed before its go: nothing of the bot has run.
        if (!instance.hasRun()) instances.delete(instanceId);
        else events.ended(instanceId, end);
      },
      onError: (error, doing) => logger.error({ err: error, instanceId }, `an instance had an error at ${doing}`),
    });
    return instance;
  };

  if (isolation.ownAccounts) {
    const accountOf = (owner: string) =>
      readRecord(instanceFiles(instancesDirectory, basename(owner)))?.account?.uid ?? null;
    releaseForgotten(reservationsDirectory, instancesDirectory, accountOf);
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
    passed: building.environment,
    open: (found) =>
      openInstance({
        ...opening,
        ...found,
        onDropped: () => undefined,
        onEnded: () => undefined,
        onError: (error, doing) =>
          logger.error({ err: error, builder: found.record.instanceId }, `a build had an error at ${doing}`),
      }),
  });
  await preparer.cleanUp();
  const earlier = await findInstances(instancesDirectory, { bootId, now: now(), logger });
  await Promise.all(
    earlier.garbage.map((files) => isolateFailure(logger, files.directory, () => removeInstance(removal, files))),
  );
  for (const found of earlier.found) {
    await isolateFailure(logger, found.files.directory, () => {
      instances.set(found.record.instanceId, open({ ...found, child: null }));
    });
  }
  if (instances.size > 0) logger.info({ instances: instances.size }, 'found instances of an earlier server');

  const noticeWide = (instance: Instance, host: string): void => {
    if (knownWide.has(instance)) return;
    knownWide.add(instance);
    const { instanceId, port } = instance.record();
    events.noticed(instanceId, 'listens-wide', `it listens on ${host}, port ${port}, and should on 127.0.0.1`);
  };

  const starter = createStarter({
    ...removal,
    options,
    instances,
    instancesDirectory,
    projectsDirectory: preparer.kept.projectsDirectory,
    isolation,
    bootId,
    program: (project) => botProgram({ ...preparer.kept, interpreter, shim }, project),
    open,
    noticed: events.noticed,
    noticeWide,
  });

  /** Its directory is made before its groups and removed after them. */
  const isKnown = (name: string) =>
    existsSync(instanceFiles(instancesDirectory, name).directory) || preparer.isKnown(name);

  let round = 0;
  const rounds = setInterval(() => {
    try {
      round++;
      const all = [...instances.values()];
      checkInstances([...all, ...preparer.running()]);
      if (round % ROUNDS_PER_LOOK_AT_LISTENERS === 0) {
        findWideListeners({ instances: all, knownWide, onWide: noticeWide });
        if (isolation.cgroups !== null) sweepCgroups(isolation.cgroups, isKnown);
      }
    } catch (error) {
      logger.error({ err: error }, 'a look at the instances failed');
    }
  }, options.roundMilliseconds ?? DEFAULT_ROUND_MILLISECONDS);
  rounds.unref();
  const closing = new AbortController();

  return {
    prepare: async (spec, output, signal) => {
      requireName(spec.id);
      return preparer.prepare(spec, output, signal);
    },
    start: (spec, signal) => {
      requireName(spec.instanceId);
      return starter.start(spec, signal);
    },
    stop: async (instanceId, grace) => {
      await starter.cancel(instanceId);
      await instances.get(instanceId)?.stop(grace);
    },
    list: async () => [...instances.values()].filter((instance) => instance.end() === null).map(describeRunning),
    watch: (signal) => events.watch(() => endedInOrder(instances), AbortSignal.any([signal, closing.signal])),
    sample: async (instanceIds) => {
      const table = tableOnce();
      const usages = new Map<string, Usage>();
      for (const instanceId of instanceIds) {
        const instance = instances.get(instanceId);
        const usage = instance === undefined || instance.end() !== null ? null : instance.containment.usage(table);
        if (usage !== null) usages.set(instanceId, usage);
      }
      return usages;
    },
    outputs: createOutputs({ instances, instancesDirectory, clock, removeTree }),
    forget: async (instanceId) => {
      requireName(instanceId);
      const instance = instances.get(instanceId);
      if (instance !== undefined && instance.end() === null) throw new Error(`instance ${instanceId} still runs`);
      instances.delete(instanceId);
      await removeInstance(removal, instanceFiles(instancesDirectory, instanceId));
    },
    discard: async (prepared) => {
      const project = parsePrepared(prepared);
      requireName(project.project);
      await preparer.discard(project);
    },
    close: async () => {
      clearInterval(rounds);
      closing.abort();
      await preparer.close();
      await Promise.all([...instances.values()].map((instance) => instance.close()));
      if (isolation.cgroups !== null) await closeCgroupHost(isolation.cgroups, isKnown, ORPHANS_MILLISECONDS);
    },
  };
}

type OpenedInstance = Pick<InstanceOptions, 'files' | 'record' | 'keeper' | 'child' | 'end'>;

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

/** Names become names of directories and control groups. */
function requireName(name: string): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)) throw new PrepareError(`not a name for an instance: ${name}`);
}
