import { botPort } from '../bot-port.ts';
import { createInstanceRecorder, type InstanceRecorder, type RecorderContext } from '../instance-recorder.ts';
import type { InstanceAddress, ObservedInstance, ResourceUsage } from '../runtime.ts';
import type { CpuPhase } from '../session-cpu.ts';
import { describeEnd, type ReportedExit } from './container-end.ts';
import { copyContainerLogs } from './container-logs.ts';
import { killContainer, limitContainerCpu, readContainer } from './containers.ts';
import { type EngineClient, isEngineError } from './engine-client.ts';
import { statsSchema } from './engine-schemas.ts';
import type { InstanceRecord, InstanceRecordStore } from './instance-record.ts';

/** Milliseconds between two reads of a container that was killed, in case the event of its end is lost. */
const checkMs = 1_000;

export type Instance = InstanceRecorder & {
  readonly instanceId: string;
  readonly record: () => InstanceRecord;
  readonly observe: () => ObservedInstance;
  readonly address: () => InstanceAddress | null;
  readonly becomeReady: (host: string) => void;
  /** Sets the CPU limit of the profile, or that of a bot that starts or opens a session. */
  readonly limitCpu: (phase: CpuPhase) => Promise<void>;
  /** Reads from the engine whether the instance has ended. Rejects if the engine does not respond. */
  readonly check: (reported?: ReportedExit) => Promise<void>;
  /** Records the usage that the engine reports. */
  readonly readUsage: () => Promise<void>;
  readonly stop: (graceMs: number) => Promise<void>;
  readonly killForDisk: (reason: string) => Promise<void>;
};

export type InstanceContext = RecorderContext & {
  readonly engine: EngineClient;
  readonly files: InstanceRecordStore;
  readonly now: () => Date;
};

/** Follows a container from its start, or from its adoption, until its end is recorded. */
export function followInstance(context: InstanceContext, instanceId: string, adopted: InstanceRecord): Instance {
  const { engine, files } = context;
  let record = adopted;
  const { containerId, deploymentId } = record;
  const recorder = createInstanceRecorder(context, {
    instanceId,
    copyOutput: (output, follows, signal) => copyContainerLogs(engine, containerId, output, follows, signal),
    streamEndMs: 5_000,
    // Without the container there is no output either.
    isOutputMissing: (error) => isEngineError(error, 404),
  });
  if (recorder.end() === null) recorder.follow();
  /** Changes of the CPU limit are applied in the order of the calls. */
  let limited: Promise<void> = Promise.resolve();

  const update = (change: Partial<InstanceRecord>) => {
    record = { ...record, ...change };
    files.write(instanceId, record);
  };

  const check = async (reported?: ReportedExit) => {
    if (recorder.hasEnded()) return;
    const container = await readContainer(engine, containerId);
    if (container?.State.Running === true || container?.State.Status === 'created') return;
    await recorder.recordEnd({ ...describeEnd(container, reported, context.now()), diskLimit: record.diskLimit });
  };

  const address = (): InstanceAddress | null =>
    record.host === null || recorder.hasStopped() ? null : { host: record.host, port: botPort };
  return {
    ...recorder,
    instanceId,
    record: () => record,
    address,
    observe: () => {
      const known = { instanceId, deploymentId };
      if (recorder.hasStopped()) return { ...known, state: 'exited', address: null };
      const reached = address();
      return { ...known, state: reached === null ? 'starting' : 'ready', address: reached };
    },
    becomeReady: (host) => update({ host }),
    limitCpu: (phase) => {
      limited = limited
        .catch(() => undefined)
        .then(() => limitContainerCpu(engine, containerId, record.cpuMillicores, phase));
      return limited;
    },
    check,
    readUsage: async () => {
      const usage = await readUsage(engine, containerId);
      if (usage !== null) recorder.recordUsage(usage);
    },
    stop: async (graceMs) => {
      if (recorder.hasEnded()) return;
      if (graceMs > 0) {
        await killContainer(engine, containerId, 'SIGTERM');
        if (await recorder.endsWithin(graceMs)) return;
      }
      await killContainer(engine, containerId, 'SIGKILL');
      while (!(await recorder.endsWithin(checkMs))) await check();
    },
    killForDisk: async (reason) => {
      if (recorder.hasEnded()) return;
      // Record the reason before the kill, so that the next server process knows it if this one is killed here.
      update({ diskLimit: reason });
      await killContainer(engine, containerId, 'SIGKILL');
    },
    close: async () => {
      await Promise.allSettled([recorder.close(), limited]);
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
