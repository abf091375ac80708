import { once } from 'node:events';
import { botPort } from '../bot-port.ts';
import type { InstanceEnd } from '../instance-end.ts';
import { createInstanceEnding } from '../instance-ending.ts';
import { createOutputFollower } from '../output/output-follower.ts';
import type { OutputSpool } from '../output/output-spool.ts';
import type { InstanceAddress, ObservedInstance, ResourceUsage, RuntimeLogger } from '../runtime.ts';
import { settlesWithin } from '../settles-within.ts';
import { describeEnd, type ReportedExit } from './container-end.ts';
import { copyContainerLogs } from './container-logs.ts';
import { type CpuPhase, killContainer, limitContainerCpu, readContainer } from './containers.ts';
import { type EngineClient, EngineError } from './engine-client.ts';
import { statsSchema } from './engine-schemas.ts';
import type { InstanceRecord, InstanceRecordStore } from './instance-record.ts';

/** Milliseconds between two questions whether a killed container has ended, in case that the event was lost. */
const checkMs = 1_000;

export type Instance = {
  readonly instanceId: string;
  readonly record: () => InstanceRecord;
  readonly observe: () => ObservedInstance;
  readonly address: () => InstanceAddress | null;
  readonly output: OutputSpool;
  readonly end: () => InstanceEnd | null;
  /** Resolves when the end is recorded. */
  readonly ended: Promise<void>;
  readonly becomeReady: (host: string) => void;
  /** Sets the CPU limit of the profile, or that of a bot that starts or opens a session. */
  readonly limitCpu: (phase: CpuPhase) => Promise<void>;
  /** Reads from the engine whether the instance has ended. Rejects if the engine does not respond. */
  readonly check: (reported?: ReportedExit) => Promise<void>;
  readonly usage: () => Promise<ResourceUsage | null>;
  readonly stop: (graceMs: number) => Promise<void>;
  readonly killForDisk: (reason: string) => Promise<void>;
  /** Stops following the instance, which continues to run. */
  readonly close: () => Promise<void>;
};

export type InstanceOptions = {
  readonly engine: EngineClient;
  readonly records: InstanceRecordStore;
  readonly logger: RuntimeLogger;
  readonly now: () => Date;
  readonly instanceId: string;
  readonly record: InstanceRecord;
  /** How the instance ended, if that is recorded. */
  readonly end: InstanceEnd | null;
  readonly output: OutputSpool;
  /** Called when the bot has ended, before the rest of its output is read. */
  readonly onStopped: () => void;
  readonly onEnded: (end: InstanceEnd) => void;
};

/** Follows a container from its start, or from its adoption, until its end is recorded. */
export function followInstance(options: InstanceOptions): Instance {
  const { engine, records, logger, instanceId, output } = options;
  let { record } = options;
  const { containerId, deploymentId } = record;
  const closing = new AbortController();
  const closed = once(closing.signal, 'abort');
  let lastUsage: ResourceUsage | null = null;
  /** Changes of the CPU limit are applied in the order of the calls. */
  let limited: Promise<void> = Promise.resolve();

  const update = (change: Partial<InstanceRecord>) => {
    record = { ...record, ...change };
    records.write(instanceId, record);
  };

  const follower = createOutputFollower({
    copy: (follows, signal) => copyContainerLogs(engine, containerId, output, follows, signal),
    onError: (error) => {
      // Without the container there is no output either.
      if (!(error instanceof EngineError && error.status === 404))
        logger.warn({ instanceId, err: error }, 'last output of instance could not be read');
    },
  });
  if (options.end === null) follower.follow();
  const ending = createInstanceEnding({
    ...options,
    follower,
    store: records,
    onEnded: (end) => {
      if (lastUsage !== null) lastUsage = { ...lastUsage, memoryBytes: 0, hasEnded: true };
      options.onEnded(end);
    },
  });
  let recorded: Promise<void> = Promise.resolve();

  const check = async (reported?: ReportedExit) => {
    if (ending.end() !== null || closing.signal.aborted) return;
    const container = await readContainer(engine, containerId);
    if (container?.State.Running === true || container?.State.Status === 'created') return;
    recorded = ending.record({ ...describeEnd(container, reported, options.now()), diskLimit: record.diskLimit });
    await recorded;
  };

  /** Rejects if the service shuts down first, because a bot may have hours to end. */
  const endsWithin = async (milliseconds: number) => {
    const isSettled = await settlesWithin(Promise.race([ending.ended, closed]), milliseconds);
    if (ending.end() === null && closing.signal.aborted)
      throw new Error('The service shut down before the instance had ended.');
    return isSettled;
  };

  const waitUntilEnded = async () => {
    while (!(await endsWithin(checkMs))) await check();
  };

  const address = (): InstanceAddress | null =>
    record.host === null || ending.hasStopped() ? null : { host: record.host, port: botPort };
  return {
    instanceId,
    record: () => record,
    address,
    observe: () => {
      const known = { instanceId, deploymentId };
      if (ending.hasStopped()) return { ...known, state: 'exited', address: null };
      const reached = address();
      return { ...known, state: reached === null ? 'starting' : 'ready', address: reached };
    },
    output,
    end: ending.end,
    ended: ending.ended,
    becomeReady: (host) => update({ host }),
    limitCpu: (phase) => {
      limited = limited
        .catch(() => undefined)
        .then(() => limitContainerCpu(engine, containerId, record.cpuMillicores, phase));
      return limited;
    },
    check,
    usage: async () => {
      if (ending.end() === null) lastUsage = (await readUsage(engine, containerId)) ?? lastUsage;
      return lastUsage;
    },
    stop: async (graceMs) => {
      if (ending.end() !== null) return;
      if (graceMs > 0) {
        await killContainer(engine, containerId, 'SIGTERM');
        if (await endsWithin(graceMs)) return;
      }
      await killContainer(engine, containerId, 'SIGKILL');
      await waitUntilEnded();
    },
    killForDisk: async (reason) => {
      if (ending.end() !== null) return;
      // Record the reason before the kill, so that the next server process knows it if this one is killed here.
      update({ diskLimit: reason });
      await killContainer(engine, containerId, 'SIGKILL');
    },
    close: async () => {
      closing.abort();
      await Promise.allSettled([follower.close(), recorded, limited]);
      output.close();
    },
  };
}

/** Returns null if the container does not run. */
async function readUsage(engine: EngineClient, containerId: string): Promise<ResourceUsage | null> {
  const query = { stream: 'false', 'one-shot': 'true' };
  const response = await engine.call('GET', `/containers/${containerId}/stats`, { query }).catch(() => null);
  const stats = statsSchema.safeParse(response);
  if (!stats.success) return null;
  const { read, cpu_stats: cpu, memory_stats: memory } = stats.data;
  if (memory.usage === undefined) return null;
  // The kernel frees inactive file pages first, so they do not belong to the working set. Names of cgroup v1 and v2.
  const inactive = memory.stats?.['total_inactive_file'] ?? memory.stats?.['inactive_file'] ?? 0;
  return {
    at: new Date(read),
    cpuMicroseconds: Math.round(cpu.cpu_usage.total_usage / 1000),
    memoryBytes: Math.max(memory.usage - inactive, 0),
  };
}
