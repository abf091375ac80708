import { describeExit, type InstanceEnd, listExits } from '../instance-end.ts';
import { createInstanceEvents, type InstanceEvents } from '../instance-events.ts';
import { openOutputSpool, type SpoolClock } from '../output/output-spool.ts';
import type { InstanceEvent, ObservedInstance, RuntimeLogger } from '../runtime.ts';
import { listContainers, removeContainer } from './containers.ts';
import type { EngineClient } from './engine-client.ts';
import type { EngineEvent } from './engine-schemas.ts';
import { followInstance, type Instance } from './instance.ts';
import type { InstanceRecord, InstanceRecordStore } from './instance-record.ts';
import { instanceLabel } from './labels.ts';

export type InstanceRegistryOptions = {
  readonly engine: EngineClient;
  readonly hostId: string;
  readonly records: InstanceRecordStore;
  readonly logger: RuntimeLogger;
  readonly now: () => Date;
  readonly clock: SpoolClock;
  readonly outputLimitBytes: number;
  readonly path: string;
};

/** The instances of this server, started or adopted, until `forget` is called for them. */
export type InstanceRegistry = {
  readonly byId: ReadonlyMap<string, Instance>;
  /** Ids of instances whose container is being created, and which are not in `byId` yet. */
  readonly launching: Set<string>;
  readonly add: (instanceId: string, record: InstanceRecord) => Instance;
  readonly list: () => readonly ObservedInstance[];
  /**
   * Compares the instances with the containers of the engine: adopts those of a previous server process, and finds ends without
   * an event. Removes containers that never ran.
   */
  readonly synchronize: () => Promise<void>;
  readonly handle: (event: EngineEvent) => void;
  readonly watch: (signal: AbortSignal) => AsyncIterable<InstanceEvent>;
  readonly noticed: InstanceEvents['noticed'];
  readonly forget: (instanceId: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

export function createInstanceRegistry(options: InstanceRegistryOptions): InstanceRegistry {
  const { engine, hostId, records, logger } = options;
  const events = createInstanceEvents(options.now);
  const byId = new Map<string, Instance>();
  const launching = new Set<string>();

  const open = (instanceId: string, record: InstanceRecord, end: InstanceEnd | null): Instance => {
    const output = openOutputSpool({
      directory: records.logDirectory(instanceId),
      isFinished: end !== null,
      limitBytes: options.outputLimitBytes,
      searchPath: options.path,
      clock: options.clock,
      onDropped: (bytes) => events.outputDropped(instanceId, bytes),
      onError: (error) => logger.error({ instanceId, err: error }, 'output of instance could not be recorded'),
    });
    const instance = followInstance({
      ...options,
      instanceId,
      record,
      end,
      output,
      onStopped: () => events.stopped(instanceId),
      onEnded: (ended) => events.ended(instanceId, new Date(ended.at), describeExit(ended)),
    });
    byId.set(instanceId, instance);
    return instance;
  };

  const synchronize = async () => {
    const containers = await listContainers(engine, hostId);
    const found = new Map(containers.map((container) => [container.Id, container.State]));
    const isKnown = (instanceId: string) => byId.has(instanceId) || launching.has(instanceId);
    for (const { Id, State, Labels } of containers) {
      const instanceId = Labels?.[instanceLabel] ?? '';
      if (isKnown(instanceId)) continue;
      // A previous server process was killed before it started the container, or has lost its data directory.
      if (State === 'created' || records.read(instanceId)?.containerId !== Id) {
        logger.warn({ instanceId, containerId: Id, state: State }, 'container without an instance removed');
        await removeContainer(engine, Id, true);
      }
    }
    let adopted = 0;
    for (const instanceId of records.ids()) {
      if (isKnown(instanceId)) continue;
      const record = records.read(instanceId);
      if (record === null || found.get(record.containerId) === 'created') {
        await records.remove(instanceId);
        continue;
      }
      adopted++;
      open(instanceId, record, records.readEnd(instanceId));
    }
    if (adopted > 0) logger.info({ instances: adopted }, 'instances of a previous server process adopted');
    const running = [...byId.values()].filter((instance) => instance.end() === null);
    const ended = running.filter((instance) => !isRunning(found.get(instance.record().containerId)));
    await Promise.all(ended.map((instance) => instance.check()));
    // A session may have opened when the previous server process was killed, or while the engine was away.
    for (const instance of running) if (instance.address() !== null) setRunningLimit(instance);
  };

  const setRunningLimit = (instance: Instance) => {
    instance.limitCpu('running').catch((error: unknown) => {
      if (instance.end() === null)
        logger.warn({ instanceId: instance.instanceId, err: error }, 'CPU limit could not be set');
    });
  };

  return {
    byId,
    launching,
    add: (instanceId, record) => open(instanceId, record, null),
    list: () => [...byId.values()].map((instance) => instance.observe()),
    synchronize,
    handle: ({ Action, Actor, timeNano }) => {
      if (Action !== 'die' && Action !== 'destroy') return;
      const instance = byId.get(Actor.Attributes?.[instanceLabel] ?? '');
      if (instance?.record().containerId !== Actor.ID) return;
      const code = Number(Actor.Attributes?.['exitCode'] ?? Number.NaN);
      const reported = { code: Number.isInteger(code) ? code : null, at: new Date(timeNano / 1e6) };
      instance.check(reported).catch((error: unknown) => {
        // After the next connection, `synchronize` finds the end.
        logger.warn({ instanceId: instance.instanceId, err: error }, 'end of instance could not be read');
      });
    },
    watch: (signal) => events.watch(() => listExits(byId.values()), signal),
    noticed: events.noticed,
    forget: async (instanceId) => {
      const instance = byId.get(instanceId);
      if (instance === undefined) return;
      if (instance.end() === null) throw new Error(`Instance ${instanceId} is still running.`);
      await removeContainer(engine, instance.record().containerId);
      await instance.close();
      await records.remove(instanceId);
      byId.delete(instanceId);
    },
    close: async () => {
      await Promise.all([...byId.values()].map((instance) => instance.close()));
    },
  };
}

const isRunning = (state: string | undefined) => state === 'running' || state === 'paused' || state === 'restarting';
