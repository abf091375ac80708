import { type InstanceAddress, type InstanceNotice, type InstanceSpec, StartError } from '../../runtime.ts';
import type { Isolation } from '../containment/isolation.ts';
import type { ProcessRuntimeOptions } from '../options.ts';
import { readListeners } from '../proc/listeners.ts';
import { readProcessTable } from '../proc/process-table.ts';
import { parsePrepared } from '../projects/prepared-project.ts';
import { describeExit } from './events.ts';
import { findFreePort } from './free-port.ts';
import type { Instance, InstanceOptions } from './instance.ts';
import { type InstanceEnd, instanceFiles } from './instance-record.ts';
import { type LaunchOptions, launch } from './launch.ts';
import { waitUntilReady } from './readiness.ts';
import type { RemovalContext } from './remove-instance.ts';

/** Between choosing a port and the bot listening on it, someone else can take it. */
const ATTEMPTS = 3;
const PORT_TAKEN = 'another program took its port';

export type StarterOptions = RemovalContext & {
  readonly options: Pick<ProcessRuntimeOptions, 'logger' | 'now' | 'path' | 'language' | 'timeZone'>;
  /** Shared with the runtime: a started instance is put in. */
  readonly instances: Map<string, Instance>;
  readonly instancesDirectory: string;
  readonly projectsDirectory: string;
  readonly isolation: Isolation;
  readonly bootId: string;
  readonly program: LaunchOptions['program'];
  readonly open: (started: Pick<InstanceOptions, 'files' | 'record' | 'keeper' | 'child' | 'end'>) => Instance;
  readonly noticed: (instanceId: string, notice: InstanceNotice, detail: string) => void;
  readonly noticeWide: (instance: Instance, host: string) => void;
};

export type Starter = {
  readonly start: (spec: InstanceSpec, signal: AbortSignal) => Promise<InstanceAddress>;
  /** Lets a start that is under way begin nothing more; resolves when what it had begun is among the instances. */
  readonly cancel: (instanceId: string) => Promise<void>;
};

export function createStarter(context: StarterOptions): Starter {
  const { instances, isolation, options } = context;
  const launching = new Map<string, Promise<Instance>>();
  const cancellations = new Map<string, AbortController>();
  const portsInUse = new Set<number>();

  /** No port of a live instance; two starts at once get two. */
  const takePort = async (name: string): Promise<number> => {
    for (;;) {
      const live = [...instances.values()].filter((other) => other.end() === null);
      const port = await findFreePort(name, new Set([...portsInUse, ...live.map((other) => other.record().port)]));
      if (portsInUse.has(port)) continue;
      portsInUse.add(port);
      return port;
    }
  };

  const launchOnce = async (spec: InstanceSpec, attempt: number, signal: AbortSignal): Promise<Instance> => {
    const port = await takePort(`${spec.instanceId} ${attempt}`);
    try {
      const files = instanceFiles(context.instancesDirectory, spec.instanceId);
      const launched = await launch({
        files,
        spec,
        project: parsePrepared(spec.prepared),
        projectsDirectory: context.projectsDirectory,
        reservationsDirectory: context.reservationsDirectory,
        removeTree: context.removeTree,
        isolation,
        program: context.program,
        port,
        bootId: context.bootId,
        now: options.now(),
        path: options.path,
        language: options.language,
        timeZone: options.timeZone,
      });
      const { record, keeper, child } = launched;
      const instance = context.open({ files, record, keeper, child, end: null });
      instances.set(spec.instanceId, instance);
      if (signal.aborted) await instance.stop(0);
      else launched.go();
      return instance;
    } finally {
      portsInUse.delete(port);
    }
  };

  /** One launch at a time per instance; a second caller gets the same one. */
  const launchShared = (spec: InstanceSpec, attempt: number, cancelled: AbortSignal): Promise<Instance> => {
    const running = launching.get(spec.instanceId);
    if (running !== undefined) return running;
    const done = launchOnce(spec, attempt, cancelled).finally(() => launching.delete(spec.instanceId));
    launching.set(spec.instanceId, done);
    return done;
  };

  /** Shared by all callers that start the same instance at once. */
  const cancellationOf = (instanceId: string): AbortSignal => {
    const known = cancellations.get(instanceId) ?? new AbortController();
    cancellations.set(instanceId, known);
    return known.signal;
  };

  const start = async (spec: InstanceSpec, signal: AbortSignal): Promise<InstanceAddress> => {
    const cancelled = cancellationOf(spec.instanceId);
    try {
      let reason = '';
      for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
        if (signal.aborted || cancelled.aborted) throw new StartError('The start was cancelled before it began.', null);
        const instance =
          instances.get(spec.instanceId) ??
          (await launchShared(spec, attempt, cancelled).catch((error: unknown) => {
            throw new StartError(`The bot could not be started: ${sentence(error)}`, null, { cause: error });
          }));
        const outcome = await becomeReady(instance, spec, AbortSignal.any([signal, cancelled]));
        if (typeof outcome !== 'string') return outcome;
        reason = outcome;
        // Taken out first, so that its end is not told: the instance is about to start anew.
        if (instances.get(spec.instanceId) === instance) instances.delete(spec.instanceId);
        await instance.stop(0);
      }
      throw new StartError(`The bot could not be started, ${ATTEMPTS} times in a row: ${reason}.`, null);
    } finally {
      if (cancellations.get(spec.instanceId)?.signal === cancelled) cancellations.delete(spec.instanceId);
    }
  };

  /** Why to try again, in words, when it is not the bot's fault. */
  const becomeReady = async (
    instance: Instance,
    spec: InstanceSpec,
    signal: AbortSignal,
  ): Promise<InstanceAddress | string> => {
    const known = instance.record();
    const earlier = instance.end();
    if (earlier !== null) throw exitError(earlier);
    if (known.address !== null) return known.address;
    let state = 'it has not begun';
    let failure: unknown = null;
    const ended = new AbortController();
    const readiness = waitUntilReady({
      port: known.port,
      pids: () => instance.containment.members(readProcessTable).map(({ pid }) => pid),
      signal: AbortSignal.any([signal, ended.signal]),
      onState: (next) => {
        state = next;
      },
    }).catch((error: unknown) => {
      failure = error;
      return null;
    });
    const first = await Promise.race([readiness, instance.ended.then(() => null)]);
    ended.abort();
    const end = instance.end();
    if (end !== null) {
      if (!signal.aborted && !instance.hasRun()) return 'the process that was to start it ended';
      if (!signal.aborted && isTaken(known.port)) return PORT_TAKEN;
      throw exitError(end);
    }
    if (first === null) {
      await instance.stop(0);
      const tail = instance.output.tail();
      throw new StartError(`The bot was stopped before it was ready: ${state}.`, null, { cause: failure, tail });
    }
    if (first.kind === 'foreign') return PORT_TAKEN;
    if (first.wide !== null) context.noticeWide(instance, first.wide.address);
    settle(instance, spec, first.address);
    return first.address;
  };

  const settle = (instance: Instance, spec: InstanceSpec, address: InstanceAddress): void => {
    const { instanceId, limits } = spec;
    try {
      if (!instance.containment.limitCpu(limits.cpuMillicores)) {
        context.noticed(instanceId, 'cpu-limit-not-enforced', 'this machine offers no CPU controller to the service');
      }
      if (!instance.containment.boundsMemory) {
        const detail = 'this machine offers no memory controller to the service: it looks each second';
        context.noticed(instanceId, 'memory-limit-sampled', detail);
      }
      instance.update({ address });
    } catch (error) {
      // A full disk, or its end: the bot is ready all the same.
      options.logger.warn({ err: error, instanceId }, 'readiness could not be written down');
    }
  };

  return {
    start,
    cancel: async (instanceId) => {
      const running = launching.get(instanceId);
      cancellations.get(instanceId)?.abort();
      await running?.catch(() => undefined);
    },
  };
}

/** A bot that ends because its port is taken says so only in its own words; the listener tells. */
function isTaken(port: number): boolean {
  return readListeners().some((listener) => listener.port === port);
}

function exitError(end: InstanceEnd): StartError {
  const exit = describeExit(end);
  const how =
    exit.outOfMemory && exit.code !== 0
      ? 'ran out of memory'
      : exit.signal !== null
        ? `was ended by ${exit.signal}`
        : exit.code !== null
          ? `exited with status ${exit.code}`
          : 'was lost';
  return new StartError(`The bot ${how} before it was ready.`, exit);
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
