import { setTimeout as delay } from 'node:timers/promises';
import { describeExit, listExits } from '../instance-end.ts';
import { createInstanceEvents, type InstanceEvents } from '../instance-events.ts';
import type { InstanceStore } from '../instance-store.ts';
import { openOutputSpool, type SpoolClock } from '../output/output-spool.ts';
import type { InstanceEvent, ObservedInstance, RuntimeLogger } from '../runtime.ts';
import { followInstance, type Instance } from './instance.ts';
import type { InstanceRecord } from './instance-record.ts';
import type { PodApi } from './pod-api.ts';
import { deploymentLabel } from './pod-body.ts';
import type { Pod } from './pod-schema.ts';
import { getPullSecretName } from './pull-secret.ts';

/** Pauses between two attempts to read a missing pod. */
const firstPauseMs = 500;
const maxPauseMs = 10_000;

export type InstanceRegistryOptions = {
  readonly api: PodApi;
  readonly files: InstanceStore<InstanceRecord>;
  readonly logger: RuntimeLogger;
  readonly now: () => Date;
  readonly clock: SpoolClock;
  readonly outputLimitBytes: number;
  readonly path: string;
};

/** The instances of this server, started or adopted, until `forget` is called for them. */
export type InstanceRegistry = {
  readonly byId: ReadonlyMap<string, Instance>;
  readonly list: () => readonly ObservedInstance[];
  /**
   * Adopts the instances of a previous server process whose pods are missing in a list. Reads each missing pod before its instance
   * ends.
   */
  readonly listed: (pods: readonly Pod[]) => void;
  /** Returns null if the pod is one that was forgotten. */
  readonly changed: (pod: Pod) => Instance | null;
  readonly deleted: (pod: Pod) => void;
  readonly watch: (signal: AbortSignal) => AsyncIterable<InstanceEvent>;
  readonly noticed: InstanceEvents['noticed'];
  /** Deletes everything of an instance whose bot never ran. */
  readonly discard: (instanceId: string) => Promise<void>;
  readonly forget: (instanceId: string) => Promise<void>;
  readonly close: () => Promise<void>;
};

export function createInstanceRegistry(options: InstanceRegistryOptions): InstanceRegistry {
  const { api, files, logger } = options;
  const events = createInstanceEvents(options.now);
  const byId = new Map<string, Instance>();
  /** Uids of pods that are being deleted, and whose instances are forgotten. */
  const forgotten = new Set<string>();
  /** Instances whose pods are missing in a list, and are being read. */
  const checking = new Set<Instance>();
  const closing = new AbortController();

  const remove = async (instanceId: string) => {
    const instance = byId.get(instanceId);
    byId.delete(instanceId);
    await instance?.close();
    await files.remove(instanceId);
  };

  const logFailure = (instanceId: string, removal: Promise<void>) => {
    removal.catch((error: unknown) => {
      logger.error({ instanceId, err: error }, 'files of instance could not be removed');
    });
  };

  /** Deletes the files last, so that the next server process continues if this one is killed. */
  const removeAll = async (instanceId: string) => {
    const instance = byId.get(instanceId);
    const pod = instance?.pod() ?? null;
    if (instance?.hasPod() === true) {
      forgotten.add(instance.podUid);
      await api.remove({ name: instanceId, uid: instance.podUid }, 0);
    }
    const secret = getPullSecretName(instanceId);
    // Without the pod, for example because its creation failed, nothing says whether there is a Secret.
    if (pod === null || pod.spec.imagePullSecrets?.some(({ name }) => name === secret) === true)
      await api.removeSecret(secret);
    await remove(instanceId);
  };

  const open = (instanceId: string, podUid: string, deploymentId: string): Instance => {
    const end = files.readEnd(instanceId);
    const record = files.read(instanceId);
    const output = openOutputSpool({
      directory: files.logDirectory(instanceId),
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
      podUid,
      deploymentId,
      record: record?.podUid === podUid ? record : null,
      end,
      output,
      onEnded: (ended) => events.ended(instanceId, new Date(ended.at), describeExit(ended)),
      onLeaving: (detail) => events.leaving(instanceId, detail),
      onStopped: () => events.stopped(instanceId),
      onGone: () => logFailure(instanceId, remove(instanceId)),
    });
    byId.set(instanceId, instance);
    return instance;
  };

  const changed = (pod: Pod): Instance | null => {
    const { name, uid, labels } = pod.metadata;
    if (forgotten.has(uid)) return null;
    const instance = byId.get(name) ?? open(name, uid, labels?.[deploymentLabel] ?? '');
    instance.apply(pod);
    return instance;
  };

  const adoptWithoutPods = () => {
    for (const instanceId of files.ids()) {
      if (byId.has(instanceId)) continue;
      try {
        const record = files.read(instanceId);
        if (record !== null) open(instanceId, record.podUid, record.deploymentId);
        else logFailure(instanceId, files.remove(instanceId));
      } catch (error) {
        logger.error({ instanceId, err: error }, 'instance could not be adopted');
      }
    }
  };

  /** Reads a missing pod. Meanwhile `list` of the runtime still returns the instance, so that nothing takes it for lost. */
  const checkUntilRead = async (instance: Instance) => {
    const { instanceId } = instance;
    if (checking.has(instance)) return;
    checking.add(instance);
    let pauseMs = firstPauseMs;
    while (!closing.signal.aborted && byId.get(instanceId) === instance) {
      try {
        await instance.check();
        break;
      } catch (error) {
        if (closing.signal.aborted) break;
        logger.warn({ instanceId, err: error }, 'missing pod could not be read');
        await delay(pauseMs, undefined, { signal: closing.signal }).catch(() => undefined);
        pauseMs = Math.min(pauseMs * 2, maxPauseMs);
      }
    }
    checking.delete(instance);
  };

  return {
    byId,
    list: () => [...byId.values()].map((instance) => instance.observe()),
    listed: (pods) => {
      const uids = new Set(pods.map(({ metadata }) => metadata.uid));
      for (const uid of forgotten) if (!uids.has(uid)) forgotten.delete(uid);
      adoptWithoutPods();
      for (const instance of byId.values()) if (!uids.has(instance.podUid)) void checkUntilRead(instance);
    },
    changed,
    deleted: (pod) => {
      const { name, uid } = pod.metadata;
      if (forgotten.delete(uid)) return;
      const instance = byId.get(name);
      if (instance?.podUid === uid) instance.deleted(pod);
    },
    watch: (signal) => events.watch(() => listExits(byId.values()), signal),
    noticed: events.noticed,
    discard: removeAll,
    forget: async (instanceId) => {
      const instance = byId.get(instanceId);
      if (instance !== undefined && instance.end() === null)
        throw new Error(`Instance ${instanceId} is still running.`);
      await removeAll(instanceId);
    },
    close: async () => {
      closing.abort();
      await Promise.all([...byId.values()].map((instance) => instance.close()));
    },
  };
}
