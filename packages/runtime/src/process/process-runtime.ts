import { createInstanceOutputs } from '../output/instance-outputs.ts';
import { createMonotonicClock } from '../output/monotonic-clock.ts';
import { startPolling } from '../polling.ts';
import { ProjectPreparationError, type Runtime, StartError } from '../runtime.ts';
import { computeCpuMillicores, createSessionCpu } from '../session-cpu.ts';
import { removeOrphanedCgroups, removeParentCgroups } from './containment/cgroup-host.ts';
import { unixAccountForAccessChecks } from './containment/isolation.ts';
import { type DiskConsumer, startDiskGuard } from './disk/disk-guard.ts';
import { openForkServers } from './fork-servers/fork-servers.ts';
import { createInstanceConversations } from './instances/conversations.ts';
import type { Instance } from './instances/instance.ts';
import { createInstanceRegistry } from './instances/instance-registry.ts';
import { checkInstances, findNonLoopbackListeners } from './instances/watchdog.ts';
import { prepareMachineForBots } from './machine.ts';
import { applyDefaultOptions, type ProcessRuntimeOptions } from './options.ts';
import { resolveBotProgram } from './projects/bot-program.ts';
import { findInterpreter } from './projects/interpreter.ts';
import { getProjectOwnerForOrganization } from './projects/owner.ts';
import { type Project, parsePreparedProject } from './projects/prepared-project.ts';
import { createLocalProjectPreparer } from './projects/preparer.ts';
import { installPythonShim } from './projects/python-shim.ts';
import { getInstanceFiles, listWritableDirectories } from './records/instance-record.ts';
import { prepareSocketPaths } from './starts/socket-paths.ts';
import { createInstanceStarter } from './starts/start.ts';

const pollsPerSocketScan = 10;
/** Polls between two measurements of proportional memory (PSS), which are slow because the kernel walks all pages. */
const pollsPerMemoryCheck = 60;
const reapMs = 5000;

/**
 * Runs instances as processes of this machine. Each has a supervisor that survives the server, and the next server process adopts
 * the instance from its record. Rejects with `RuntimeUnavailableError` if this machine cannot run bots.
 */
export async function createProcessRuntime(partialOptions: ProcessRuntimeOptions): Promise<Runtime> {
  const options = applyDefaultOptions(partialOptions);
  const { dataDirectory, disk } = options;
  const machine = await prepareMachineForBots(options);
  const { isolation, instancesDirectory } = machine;
  const clock = createMonotonicClock(options.now);
  const context = { ...options, ...machine, clock };

  const interpreter = memoize(() =>
    findInterpreter({
      ...options,
      preferred: options.interpreter,
      account: isolation.ownAccounts ? unixAccountForAccessChecks : null,
    }),
  );
  const shim = memoize(() => installPythonShim(dataDirectory, options.shimPackage));
  const preparer = createLocalProjectPreparer({ ...context, interpreter, shim });
  await preparer.cleanUp();
  const { projectsDirectory } = preparer.store;

  const instances = createInstanceRegistry(context);
  await instances.adopt();

  const program = (project: Project) => resolveBotProgram({ ...preparer.store, interpreter, shim }, project);
  const isReplaceable = (instance: Instance): boolean =>
    instance.isReplaceable && forkServers.isReady(instance.record().deploymentId);
  const forkServers = await openForkServers({
    ...context,
    projectsDirectory,
    program,
    memoryBytes: options.retainedMemoryBytes,
    importMs: options.forkImportMs,
    onReady: (deploymentId) => {
      for (const instance of instances.running()) {
        const record = instance.record();
        if (record.deploymentId === deploymentId && isReplaceable(instance))
          instances.becameReplaceable(record.instanceId);
      }
    },
  });
  const socketPaths = prepareSocketPaths(dataDirectory, instancesDirectory, isolation.ownAccounts);
  const starter = createInstanceStarter({
    ...context,
    instances,
    projectsDirectory,
    socketPaths,
    program,
    forkServers,
  });

  const diskGuard =
    disk === null
      ? null
      : startDiskGuard({
          ...options,
          limits: disk,
          consumers: () => [...diskConsumers(instances.running(), disk.instanceBytes), ...preparer.disk.consumers()],
          stored: preparer.disk.stored,
          nowMs: () => performance.now(),
        });

  const sessionCpu = createSessionCpu(
    instances.byId,
    ({ containment, record }, phase) =>
      containment.limitCpu(computeCpuMillicores(record().limits.cpuMillicores, phase), 'session'),
    options.logger,
  );

  const { cgroups } = isolation;
  const hasGroup = (name: string) => instances.isKnown(name) || preparer.isKnown(name) || forkServers.isKnown(name);
  const stopPolling = startPolling(options, [
    { polls: 1, run: () => checkInstances([...instances.byId.values(), ...preparer.running()]) },
    { polls: pollsPerSocketScan, run: () => findNonLoopbackListeners(instances.running(), instances.noticeWide) },
    {
      polls: pollsPerSocketScan,
      run: async () => {
        if (cgroups !== null) await removeOrphanedCgroups(cgroups, hasGroup);
      },
    },
    { polls: pollsPerMemoryCheck, run: forkServers.limitMemory },
  ]);
  const closing = new AbortController();

  return {
    prepare: async (spec, output, signal) => {
      requireId(spec.id, (message) => new ProjectPreparationError(message));
      const { id, source } = spec;
      if (source.kind === 'image')
        throw new ProjectPreparationError('This runtime runs no images. Deploy the project of the bot instead.');
      return preparer.prepare({ id, source }, output, signal);
    },
    start: async (spec, signal, launched) => {
      requireId(spec.instanceId, (message) => new StartError(message, null));
      return { address: await starter.start(spec, signal, launched) };
    },
    stop: async (instanceId, grace) => {
      await starter.cancel(instanceId);
      await instances.byId.get(instanceId)?.stop(grace);
    },
    sessionOpening: sessionCpu.sessionOpening,
    sessionOpened: sessionCpu.sessionOpened,
    list: async () => instances.list(),
    inspect: async (instanceId) => instances.inspect(instanceId),
    isAddressCurrent: (instanceId) => instances.byId.get(instanceId)?.end() === null,
    isConnected: () => true,
    watch: (signal) => instances.watch(AbortSignal.any([signal, closing.signal])),
    sample: async (instanceIds) => instances.sample(instanceIds),
    diskUsage: async (organizationId) => diskGuard?.usedBytes(getProjectOwnerForOrganization(organizationId)) ?? 0,
    outputs: createInstanceOutputs({
      ...context,
      instances: instances.byId,
      outputDirectory: (instanceId) => getInstanceFiles(instancesDirectory, instanceId).log,
    }),
    conversations: createInstanceConversations(instances.byId),
    forget: async (instanceId) => {
      requireId(instanceId, (message) => new RangeError(message));
      await instances.forget(instanceId);
    },
    discard: async (prepared) => {
      const project = parsePreparedProject(prepared);
      requireId(project.project, (message) => new RangeError(message));
      await preparer.discard(project);
      forkServers.forget(project.project);
    },
    retain: forkServers.retain,
    startMethods: forkServers.startMethods,
    findReplaceable: () =>
      new Set(
        instances
          .running()
          .filter(isReplaceable)
          .map((one) => one.record().instanceId),
      ),
    close: async () => {
      stopPolling();
      closing.abort();
      await starter.close();
      sessionCpu.close();
      await forkServers.close();
      await diskGuard?.close();
      await preparer.close();
      await instances.close();
      if (cgroups !== null) await removeParentCgroups(cgroups, hasGroup, reapMs);
    },
  };
}

function diskConsumers(running: readonly Instance[], limitBytes: number): readonly DiskConsumer[] {
  return running.map((instance) => ({
    id: instance.record().instanceId,
    kind: 'instance',
    owner: instance.record().owner ?? null,
    limitBytes,
    foundBytes: 0,
    directories: () => listWritableDirectories(instance.files),
    pids: (table) => instance.containment.members(table).map(({ pid }) => pid),
    end: instance.killForDisk,
  }));
}

/** Throws if an instance or project id cannot be the name of a directory and of a control group. */
function requireId(id: string, toError: (message: string) => Error): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(id)) throw toError(`"${id}" is not a valid id.`);
}

function memoize<T>(compute: () => Promise<T>): () => Promise<T> {
  let value: Promise<T> | null = null;
  return () => {
    value ??= compute().catch((error: unknown) => {
      value = null;
      throw error;
    });
    return value;
  };
}
