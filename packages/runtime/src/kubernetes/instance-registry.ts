import { setTimeout as delay } from 'node:timers/promises';
import { createInstanceEvents } from '../instance-events.ts';
import { followInstance, type Instance, type InstanceContext } from './instance.ts';
import { deploymentLabel } from './pod-body.ts';
import type { Pod } from './pod-schema.ts';
import { getPullSecretName } from './pull-secret.ts';

/** Pauses between two attempts to read a missing pod. */
const firstReadPauseMs = 500;
const maxReadPauseMs = 10_000;

/** The instances of this server, started or adopted, until `forget` is called for them. */
export type InstanceRegistry = ReturnType<typeof createInstanceRegistry>;

export function createInstanceRegistry(options: Omit<InstanceContext, 'events' | 'onGone'>) {
  const { api, files, logger } = options;
  const events = createInstanceEvents(options.now);
  const byId = new Map<string, Instance>();
  /** Uids of pods that are being deleted, and whose instances are forgotten. */
  const forgotten = new Set<string>();
  /** Instances whose missing pods are being read. */
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
      // The node completes a deletion once the bot has ended.
      if (pod?.metadata.deletionTimestamp === undefined)
        await api.remove({ name: instanceId, uid: instance.podUid }, 0);
    }
    const secret = getPullSecretName(instanceId);
    // Without the pod, for example because its creation failed, nothing says whether there is a Secret.
    if (pod === null || pod.spec.imagePullSecrets?.some(({ name }) => name === secret) === true)
      await api.removeSecret(secret);
    await remove(instanceId);
  };

  const context = {
    ...options,
    events,
    onGone: (instanceId: string) => logFailure(instanceId, remove(instanceId)),
  };

  const open = (instanceId: string, podUid: string, deploymentId: string): Instance => {
    const instance = followInstance(context, instanceId, podUid, deploymentId);
    byId.set(instanceId, instance);
    return instance;
  };

  /** Returns null if the pod is one that was forgotten. */
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
    let pauseMs = firstReadPauseMs;
    while (!closing.signal.aborted && byId.get(instanceId) === instance) {
      try {
        await instance.check();
        break;
      } catch (error) {
        logger.warn({ instanceId, err: error }, 'missing pod could not be read');
        await delay(pauseMs, undefined, { signal: closing.signal }).catch(() => undefined);
        pauseMs = Math.min(pauseMs * 2, maxReadPauseMs);
      }
    }
    checking.delete(instance);
  };

  return {
    byId: byId as ReadonlyMap<string, Instance>,
    events,
    /** Adopts instances of a previous server process. Reads each pod that is missing in the list before its instance ends. */
    listed: (pods: readonly Pod[]): void => {
      const uids = new Set(pods.map(({ metadata }) => metadata.uid));
      for (const uid of forgotten) if (!uids.has(uid)) forgotten.delete(uid);
      adoptWithoutPods();
      for (const instance of byId.values()) if (!uids.has(instance.podUid)) void checkUntilRead(instance);
    },
    changed,
    deleted: (pod: Pod): void => {
      const { name, uid } = pod.metadata;
      if (forgotten.delete(uid)) return;
      const instance = byId.get(name);
      if (instance?.podUid === uid) instance.deleted(pod);
    },
    /** Deletes everything of an instance whose bot never ran. */
    discard: removeAll,
    forget: async (instanceId: string): Promise<void> => {
      const instance = byId.get(instanceId);
      if (instance !== undefined && instance.end() === null)
        throw new Error(`Instance ${instanceId} is still running.`);
      await removeAll(instanceId);
    },
    close: async (): Promise<void> => {
      closing.abort();
      await Promise.all([...byId.values()].map((instance) => instance.close()));
    },
  };
}
