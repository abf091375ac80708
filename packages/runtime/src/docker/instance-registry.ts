import { createInstanceEvents, type InstanceEvents } from '../instance-events.ts';
import { listContainers, removeContainer } from './containers.ts';
import type { EngineEvent } from './engine-schemas.ts';
import { followInstance, type Instance, type InstanceContext } from './instance.ts';
import type { InstanceRecord } from './instance-record.ts';
import { instanceLabel } from './labels.ts';

/** The instances of this server, started or adopted, until `forget` is called for them. */
export type InstanceRegistry = {
  readonly byId: ReadonlyMap<string, Instance>;
  /** Ids of instances whose container is being created, and which are not in `byId` yet. */
  readonly launching: Set<string>;
  readonly add: (instanceId: string, record: InstanceRecord) => Instance;
  readonly events: InstanceEvents;
  /** Adopts containers of a previous server process, finds ends without an event, and removes containers that never ran. */
  readonly synchronize: () => Promise<void>;
  readonly handle: (event: EngineEvent) => void;
  readonly forget: (instanceId: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

export function createInstanceRegistry(
  options: Omit<InstanceContext, 'events'> & { readonly hostId: string },
): InstanceRegistry {
  const { engine, hostId, files, logger } = options;
  const events = createInstanceEvents(options.now);
  const byId = new Map<string, Instance>();
  const launching = new Set<string>();

  const add = (instanceId: string, record: InstanceRecord): Instance => {
    const instance = followInstance({ ...options, events }, instanceId, record);
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
      if (State === 'created' || files.read(instanceId)?.containerId !== Id) {
        logger.warn({ instanceId, containerId: Id, state: State }, 'container without an instance removed');
        await removeContainer(engine, Id, true);
      }
    }
    let adopted = 0;
    for (const instanceId of files.ids()) {
      if (isKnown(instanceId)) continue;
      const record = files.read(instanceId);
      if (record === null || found.get(record.containerId) === 'created') {
        await files.remove(instanceId);
        continue;
      }
      adopted++;
      add(instanceId, record);
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
    add,
    events,
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
    forget: async (instanceId) => {
      const instance = byId.get(instanceId);
      if (instance === undefined) return;
      if (instance.end() === null) throw new Error(`Instance ${instanceId} is still running.`);
      await removeContainer(engine, instance.record().containerId);
      await instance.close();
      await files.remove(instanceId);
      byId.delete(instanceId);
    },
    close: async () => {
      await Promise.all([...byId.values()].map((instance) => instance.close()));
    },
  };
}

const isRunning = (state: string | undefined) => state === 'running' || state === 'paused' || state === 'restarting';
