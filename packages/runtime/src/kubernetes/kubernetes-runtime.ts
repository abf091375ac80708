import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { createContainerRuntime } from '../container-runtime.ts';
import { formatUrlHost } from '../format-url-host.ts';
import { openInstanceStore } from '../instance-store.ts';
import { createSpoolClock } from '../output/output-spool.ts';
import {
  type DirectoryTreeRemover,
  ProjectPreparationError,
  type Runtime,
  type RuntimeOptions,
  RuntimeUnavailableError,
  StartError,
} from '../runtime.ts';
import { settlesWithin } from '../settles-within.ts';
import type { ClusterAccess } from './cluster-access.ts';
import { type ClusterClient, ClusterError, createClusterClient } from './cluster-client.ts';
import { instanceRecordSchema } from './instance-record.ts';
import { createInstanceRegistry } from './instance-registry.ts';
import { createInstanceStarter } from './instance-starter.ts';
import { openKubeconfig } from './kubeconfig.ts';
import { createPodApi } from './pod-api.ts';
import { hostLabel, isMarkedAsClaimed, selectBotHost } from './pod-body.ts';
import { noPodTemplate, readPodTemplate } from './pod-template.ts';
import { type PodWatch, watchPods } from './pod-watch.ts';
import { prepareImage } from './prepared-image.ts';
import { openServiceAccount } from './service-account.ts';
import { createUsageReader } from './usage.ts';

const kubeletPort = 10_250;
/**
 * Milliseconds from the start of a session until its pod is marked as claimed. The cluster handles each mark on the node of the pod,
 * which would delay a burst of starts. If the pod is evicted earlier, its session can finish within the grace period of the pod.
 */
const markDelayMs = 3_000;
/** How long `close` waits for the marks of pods, in milliseconds. */
const closeMs = 2_000;
/** The version from which containers get variables with any names. */
const anyVariableMinor = 34;

export type KubernetesRuntimeOptions = RuntimeOptions & {
  /** Path of a kubeconfig file. Null: the service runs in a pod of the cluster, and uses its service account. */
  readonly kubeconfig: string | null;
  /** Host and port of the API server for pods. Null outside a cluster. */
  readonly apiServer: { readonly host: string; readonly port: string } | null;
  /** Namespace of the pods. Null: that of the service account, or of the kubeconfig file's context. */
  readonly namespace: string | null;
  readonly readsUsage: boolean;
  /** Whether nodes may run an image that they have without asking its registry. Every organization can use these images. */
  readonly allowsLocalImages: boolean;
  /** Maximum bytes of the files that an instance writes. */
  readonly instanceDiskBytes: number;
  /** Linux capabilities of containers, such as `SETUID`. */
  readonly capabilities: readonly string[];
  /** Path of a YAML file with what all pods get in addition. */
  readonly podTemplate: string | null;
  /** `PATH` of the service, to run `perl` and the programs of a kubeconfig file. */
  readonly path: string;
  readonly removeTree: DirectoryTreeRemover;
  /** Returns the URL of the kubelet of a node, by its address. */
  readonly getKubeletOrigin?: (hostIp: string) => string;
};

/** Runs instances as pods. The next server process adopts them. Rejects with `RuntimeUnavailableError` if that is impossible. */
export async function createKubernetesRuntime(options: KubernetesRuntimeOptions): Promise<Runtime> {
  const { hostId, logger, now } = options;
  const podTemplate = options.podTemplate === null ? noPodTemplate : await readPodTemplate(options.podTemplate);
  const access = await openAccess(options);
  const namespace = options.namespace ?? access.namespace ?? 'default';
  const client = createClusterClient(access);
  const api = createPodApi(client, namespace);
  const files = openInstanceStore(join(options.dataDirectory, 'kubernetes/instances'), instanceRecordSchema);
  const clock = createSpoolClock(now);
  const instances = createInstanceRegistry({ ...options, api, files, clock });
  const closing = new AbortController();
  let minor: number;
  let watch: PodWatch;
  try {
    minor = await readMinorVersion(client);
    watch = await watchPods({
      client,
      path: api.path,
      labelSelector: `${hostLabel}=${hostId}`,
      logger,
      now,
      onListed: instances.listed,
      onChanged: instances.changed,
      onDeleted: instances.deleted,
    });
  } catch (error) {
    await instances.close();
    await client.close();
    throw toUnavailable(error, namespace);
  }
  const starter = createInstanceStarter({
    ...options,
    podTemplate,
    botHost: selectBotHost(access.server),
    api,
    instances,
    acceptsAnyVariable: minor >= anyVariableMinor,
    randomSuffix: () => randomBytes(3).toString('hex'),
  });
  const getOrigin = options.getKubeletOrigin ?? ((host) => `https://${formatUrlHost(host)}:${kubeletPort}`);
  const readUsage = createUsageReader({ client, namespace, logger, now, getOrigin });
  /** Pods are marked one after the other, because each simultaneous request would open a connection. */
  let marked: Promise<void> = Promise.resolve();
  const mark = (instanceId: string) => {
    const waited = delay(markDelayMs, undefined, { signal: closing.signal }).catch(() => undefined);
    marked = Promise.all([marked, waited])
      .then(async () => {
        if (instances.byId.get(instanceId)?.hasStopped() === false) await api.markClaimed(instanceId);
      })
      .catch((error: unknown) => {
        // The session continues, but an autoscaler may end it.
        logger.warn({ instanceId, err: error }, 'pod could not be protected from disruption');
      });
  };
  // The server process before may have ended before it marked them.
  for (const instance of instances.byId.values())
    if (instance.isClaimed() && !isMarkedAsClaimed(instance.pod())) mark(instance.instanceId);
  const requireConnection = () => {
    if (!watch.isFresh()) throw new Error('The API server of the cluster does not respond.');
  };

  return {
    ...createContainerRuntime({
      ...options,
      instances,
      starter,
      requireConnection,
      readUsage: options.readsUsage ? readUsage : async () => undefined,
      closing: closing.signal,
      logDirectory: files.logDirectory,
      clock,
    }),
    prepare: async ({ id, source }, output) => {
      if (source.kind !== 'image')
        throw new ProjectPreparationError('This region runs container images. Deploy an image instead of a project.');
      const prepared = prepareImage(id, source.reference);
      output(`Image ${prepared.image}`);
      return prepared;
    },
    // Nodes remove unused images by themselves.
    discard: async () => undefined,
    start: async (spec, signal, launched = () => undefined) => {
      // Names of pods are names of hosts (RFC 1123).
      if (!/^[a-z0-9](?:[-a-z0-9]{0,55}[a-z0-9])?$/.test(spec.instanceId))
        throw new StartError(`"${spec.instanceId}" is not a valid id.`, null);
      return starter.start(spec, signal, launched);
    },
    isConnected: watch.isConnected,
    isAddressCurrent: (instanceId) => watch.isFresh() && (instances.byId.get(instanceId)?.address() ?? null) !== null,
    // The files of a bot are in its pod. Bots publish their conversations to the service instead.
    conversations: { read: async () => null },
    forget: instances.forget,
    diskUsage: async () => 0,
    sessionOpening: (instanceId) => {
      instances.byId.get(instanceId)?.claim();
      mark(instanceId);
    },
    sessionOpened: () => undefined,
    retain: async () => undefined,
    close: async () => {
      closing.abort();
      await settlesWithin(marked, closeMs);
      await starter.close();
      await watch.close();
      await instances.close();
      await client.close();
    },
  };
}

function openAccess(options: KubernetesRuntimeOptions): Promise<ClusterAccess> {
  const { kubeconfig, apiServer, now } = options;
  if (kubeconfig !== null) return openKubeconfig(kubeconfig, { searchPath: options.path, now });
  if (apiServer !== null) return openServiceAccount({ ...apiServer, now });
  throw new RuntimeUnavailableError(
    'BOTHOST_RUNTIME=kubernetes needs a cluster. Run the service in a pod, or set KUBECONFIG to a kubeconfig file.',
  );
}

const versionSchema = z.object({ minor: z.string() });

/** Providers add a sign to the number, such as `34+`. */
async function readMinorVersion(client: ClusterClient): Promise<number> {
  return Number.parseInt(versionSchema.parse(await client.call('GET', '/version')).minor, 10);
}

function toUnavailable(error: unknown, namespace: string): unknown {
  if (!(error instanceof ClusterError)) return error;
  const advice =
    error.status === 401
      ? 'Check its credentials.'
      : error.status === 403
        ? `Grant the service the rights to pods, their logs and Secrets in the namespace "${namespace}".`
        : 'Check that the API server runs and can be reached.';
  return new RuntimeUnavailableError(
    `The cluster refused the service: ${error.message.replace(/\.*$/, '.')} ${advice}`,
    {
      cause: error,
    },
  );
}
