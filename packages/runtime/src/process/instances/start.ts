import { type InstanceAddress, type InstanceNotice, type InstanceSpec, StartError } from '../../runtime.ts';
import type { Isolation } from '../containment/isolation.ts';
import type { ForkServers } from '../fork-servers/fork-servers.ts';
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

/** Another process can take the chosen port before the bot listens on it. */
const ATTEMPTS = 3;
const PORT_TAKEN = 'another program took its port';

export type StarterOptions = RemovalContext & {
  readonly options: Pick<ProcessRuntimeOptions, 'logger' | 'now' | 'path' | 'language' | 'timeZone'>;
  /** The instances of the runtime, to which started instances are added. */
  readonly instances: Map<string, Instance>;
  readonly instancesDirectory: string;
  readonly projectsDirectory: string;
  readonly isolation: Isolation;
  readonly bootId: string;
  readonly program: LaunchOptions['program'];
  readonly forkServers: Pick<ForkServers, 'find' | 'ensure'>;
  readonly open: (
    started: Pick<InstanceOptions, 'files' | 'record' | 'supervisor' | 'child' | 'isForked' | 'end'>,
  ) => Instance;
  readonly noticed: (instanceId: string, notice: InstanceNotice, detail: string) => void;
  readonly noticeWide: (instance: Instance, host: string) => void;
};

export type Starter = {
  readonly start: (spec: InstanceSpec, signal: AbortSignal) => Promise<InstanceAddress>;
  /**
   * Cancels the start of an instance, if one is running. Resolves when an instance that was already launched is in
   * `instances`.
   */
  readonly cancel: (instanceId: string) => Promise<void>;
};

export function createStarter(context: StarterOptions): Starter {
  const { instances, isolation, options } = context;
  const launching = new Map<string, Promise<Instance>>();
  const cancellations = new Map<string, AbortController>();
  const portsInUse = new Set<number>();

  /**
   * Reserves a free port. Excludes the ports of concurrent starts and of instances that are not forgotten yet, because
   * the server may still send requests there.
   */
  const takePort = async (name: string): Promise<number> => {
    for (;;) {
      const known = [...instances.values()].map((other) => other.record().port);
      const port = await findFreePort(name, new Set([...portsInUse, ...known]));
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
        forkServers: context.forkServers,
        onForkFailed: (error) =>
          options.logger.warn({ err: error, instanceId: spec.instanceId }, 'instance could not be forked'),
        port,
        bootId: context.bootId,
        now: options.now(),
        path: options.path,
        language: options.language,
        timeZone: options.timeZone,
      });
      const { record, supervisor, child } = launched;
      const instance = context.open({ files, record, supervisor, child, isForked: child === null, end: null });
      instances.set(spec.instanceId, instance);
      if (signal.aborted) await instance.stop(0);
      else launched.go();
      return instance;
    } finally {
      portsInUse.delete(port);
    }
  };

  /** Concurrent callers share one launch per instance. */
  const launchShared = (spec: InstanceSpec, attempt: number, cancelled: AbortSignal): Promise<Instance> => {
    const running = launching.get(spec.instanceId);
    if (running !== undefined) return running;
    const done = launchOnce(spec, attempt, cancelled).finally(() => launching.delete(spec.instanceId));
    launching.set(spec.instanceId, done);
    return done;
  };

  /** Concurrent starts of one instance share an abort controller. */
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
        if (signal.aborted || cancelled.aborted) throw new StartError('The start was canceled before it began.', null);
        const instance =
          instances.get(spec.instanceId) ??
          (await launchShared(spec, attempt, cancelled).catch((error: unknown) => {
            throw new StartError(`The bot could not be started: ${messageOf(error)}`, null, { cause: error });
          }));
        const outcome = await becomeReady(instance, spec, AbortSignal.any([signal, cancelled]));
        if (typeof outcome !== 'string') return outcome;
        reason = outcome;
        // Remove the instance first, so that no exit event is sent for it, because it is started again.
        if (instances.get(spec.instanceId) === instance) instances.delete(spec.instanceId);
        await instance.stop(0);
      }
      throw new StartError(`The bot could not be started in ${ATTEMPTS} attempts: ${reason}.`, null);
    } finally {
      if (cancellations.get(spec.instanceId)?.signal === cancelled) cancellations.delete(spec.instanceId);
    }
  };

  /** The address of the ready instance, or the reason for another attempt, which is not the bot's fault. */
  const becomeReady = async (
    instance: Instance,
    spec: InstanceSpec,
    signal: AbortSignal,
  ): Promise<InstanceAddress | string> => {
    const known = instance.record();
    const earlier = instance.end();
    if (earlier !== null) throw exitError(earlier);
    if (known.address !== null) return known.address;
    let state = 'it had not been started';
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
      if (!signal.aborted && !instance.hasRun()) return 'its supervisor ended before it started the bot';
      if (!signal.aborted && isTaken(known.port)) return PORT_TAKEN;
      throw exitError(end);
    }
    if (first === null) {
      await instance.stop(0);
      const tail = instance.output.tail();
      throw new StartError(`The bot was stopped before it was ready: ${state}.`, null, { cause: failure, tail });
    }
    if (first.kind === 'port-taken') return PORT_TAKEN;
    if (first.wide !== null) context.noticeWide(instance, first.wide.address);
    settle(instance, spec, first.address);
    context.forkServers.ensure({ spec, project: parsePrepared(spec.prepared) });
    return first.address;
  };

  const settle = (instance: Instance, spec: InstanceSpec, address: InstanceAddress): void => {
    const { instanceId, limits } = spec;
    try {
      if (!instance.containment.limitCpu(limits.cpuMillicores)) {
        context.noticed(instanceId, 'cpu-limit-not-enforced', 'the service has no CPU controller on this machine');
      }
      if (!instance.containment.boundsMemory) {
        const detail = 'the service has no memory controller on this machine and checks the usage each second';
        context.noticed(instanceId, 'memory-limit-sampled', detail);
      }
      instance.update({ address });
    } catch (error) {
      // For example, because the disk is full. The bot is ready nevertheless.
      options.logger.warn({ err: error, instanceId }, 'readiness could not be recorded');
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

/** A bot that exits because its port is taken has no standard exit status, so look for another listener on the port. */
function isTaken(port: number): boolean {
  return readListeners().some((listener) => listener.port === port);
}

function exitError(end: InstanceEnd): StartError {
  const exit = describeExit(end);
  if (exit.diskLimit !== undefined)
    return new StartError(`The bot was ended before it was ready. ${exit.diskLimit}`, exit);
  const how =
    exit.outOfMemory && exit.code !== 0
      ? 'ran out of memory'
      : exit.signal !== null
        ? `was ended by ${exit.signal}`
        : exit.code !== null
          ? `exited with status ${exit.code}`
          : 'ended in an unknown way';
  return new StartError(`The bot ${how} before it was ready.`, exit);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
