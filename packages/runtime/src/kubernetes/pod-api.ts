import type { Readable } from 'node:stream';
import { type ClusterClient, isClusterError } from './cluster-client.ts';
import { claimedPatch } from './pod-body.ts';
import { type Pod, podSchema } from './pod-schema.ts';
import { containerName } from './pod-status.ts';

/** Seconds between SIGTERM and SIGKILL, of which Kubernetes needs at least one. Zero would forget a pod that still runs. */
const minGraceSeconds = 1;

/** The requests about the pods and Secrets of a namespace. All throw `ClusterError`, or the reason of the signal. */
export type PodApi = ReturnType<typeof createPodApi>;

export function createPodApi(client: ClusterClient, namespace: string) {
  const root = `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
  const path = `${root}/pods`;
  const ignore =
    (...statuses: readonly number[]) =>
    (error: unknown) => {
      if (!statuses.some((status) => isClusterError(error, status))) throw error;
      return null;
    };
  return {
    path,
    create: async (body: object, signal: AbortSignal): Promise<Pod> => {
      // Otherwise the API server would ignore fields of the pod template that it does not know.
      const query = { fieldValidation: 'Strict' };
      return podSchema.parse(await client.call('POST', path, { query, body, signal }));
    },
    /** Null: it does not exist. */
    read: async (name: string): Promise<Pod | null> => {
      const found = await client.call('GET', `${path}/${name}`).catch(ignore(404));
      return found === null ? null : podSchema.parse(found);
    },
    /** Marks a pod as one that has a session. Does nothing if it does not exist. */
    markClaimed: async (name: string): Promise<void> => {
      const contentType = 'application/merge-patch+json';
      await client.call('PATCH', `${path}/${name}`, { body: claimedPatch, contentType }).catch(ignore(404));
    },
    /** Deletes a pod, after SIGTERM and a grace period. Does nothing if a pod with this uid does not exist. */
    remove: async (pod: { readonly name: string; readonly uid: string }, graceMs: number): Promise<void> => {
      const gracePeriodSeconds = Math.max(minGraceSeconds, Math.ceil(graceMs / 1000));
      // Of another pod with the name, the uid differs, and the API server responds 409.
      const body = { gracePeriodSeconds, preconditions: { uid: pod.uid } };
      await client.call('DELETE', `${path}/${pod.name}`, { body }).catch(ignore(404, 409));
    },
    /** Returns the output of the bot since a time, with timestamps. */
    readLog: (name: string, since: Date | null, follows: boolean, signal: AbortSignal): Promise<Readable> => {
      const sinceTime = since === null ? {} : { sinceTime: since.toISOString() };
      const query = { container: containerName, timestamps: 'true', follow: String(follows), ...sinceTime };
      return client.stream(`${path}/${name}/log`, { query, signal });
    },
    /** Does nothing if a Secret of this name exists. A ResourceQuota that changes meanwhile is another 409, which throws. */
    createSecret: async (body: object, signal: AbortSignal): Promise<void> => {
      await client.call('POST', `${root}/secrets`, { body, signal }).catch((error: unknown) => {
        if (!isClusterError(error, 409) || error.reason !== 'AlreadyExists') throw error;
      });
    },
    removeSecret: async (name: string): Promise<void> => {
      await client.call('DELETE', `${root}/secrets/${name}`).catch(ignore(404));
    },
  };
}
