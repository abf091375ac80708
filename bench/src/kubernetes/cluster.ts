import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { Agent, type Dispatcher, request } from 'undici';
import { withTemporaryDirectory } from '../benchmarked-service.ts';
import { docker } from '../parrot-image.ts';
import { waitUntil } from '../wait-until.ts';

const run = promisify(execFile);
/** Files and the container runtime of the cluster that `packages/runtime/test/kubernetes/cluster/up` starts. */
const clusterDirectory = '/var/lib/bothost-test-kubernetes';
const containerdSocket = '/run/bothost-test-kubernetes/containerd.sock';

/** The pods of all agents fit on the node, whose scheduler would otherwise reserve CPU and memory for each. */
const podTemplate = { container: { resources: { requests: { cpu: '1m', memory: '1Mi' } } } };

/** A namespace of the cluster. Paths begin with that of the namespace, such as `/pods`. */
export type Cluster = {
  /** Settings of a service that runs bots in the namespace. */
  readonly environment: Readonly<Record<string, string>>;
  /** Sends a request to the API server. Rejects if the API server refuses it. */
  readonly call: (method: Dispatcher.HttpMethod, path: string, body?: object) => Promise<unknown>;
  /** The pods by name, as a watch shows them. */
  readonly pods: ReadonlyMap<string, WatchedPod>;
  /** Starts a proxy between a service with these settings and the API server. */
  readonly startProxy: () => Promise<ApiServerProxy & Pick<Cluster, 'environment'>>;
};

type WatchedPod = {
  readonly ip: string | undefined;
  /** The Unix time in milliseconds at which the watch showed the end of the bot. */
  readonly endedAtMs: number | undefined;
};

/** `packages/runtime/test/kubernetes/api-server-proxy.ts`, which `tsconfig.tests.json` compiles. */
export type ApiServerProxy = {
  readonly origin: string;
  readonly requests: readonly { readonly method: string; readonly path: string; readonly query: URLSearchParams }[];
  /** Ends all connections. New ones are refused until `start` is called. */
  readonly stop: () => Promise<void>;
  readonly start: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Why bots cannot run in pods here. Null if they can. */
export async function findClusterProblem(): Promise<string | null> {
  const works = (program: Promise<unknown>) => program.then(Boolean, () => false);
  if (!(await works(docker('version')))) return 'no Docker engine is running';
  return (await works(kubectl('get', '--raw', '/readyz')))
    ? null
    : 'the Kubernetes cluster of the tests is not running';
}

/**
 * Copies images of the Docker engine to the node, and runs `use` with a new namespace. Finally deletes the images of the node, and the
 * namespace with everything in it.
 */
export async function withCluster(images: readonly string[], use: (cluster: Cluster) => Promise<void>): Promise<void> {
  const config = JSON.parse(await kubectl('config', 'view', '--raw', '-o', 'json'));
  const [{ cluster }, { user }] = [config.clusters[0], config.users[0]];
  const encoded = [cluster['certificate-authority-data'], user['client-certificate-data'], user['client-key-data']];
  const [ca = '', cert = '', key = ''] = encoded.map((text) => Buffer.from(text, 'base64').toString());
  const agent = new Agent({ connect: { ca, cert, key }, bodyTimeout: 0 });
  const name = `bothost-bench-${randomBytes(4).toString('hex')}`;
  const send = async (method: Dispatcher.HttpMethod, path: string, content?: object) => {
    const headers = { 'content-type': 'application/json' };
    const body = content === undefined ? null : JSON.stringify(content);
    const url = `${cluster.server}/api/v1/namespaces/${name}${path}`;
    const response = await request(url, { method, headers, body, dispatcher: agent });
    if (response.statusCode < 300) return response.body;
    throw new Error(`${method} ${path} failed with status ${response.statusCode}: ${await response.body.text()}`);
  };
  const call: Cluster['call'] = async (...options) => (await send(...options)).json();
  await withTemporaryDirectory(async (directory) => {
    const template = join(directory, 'pod.yaml');
    await writeFile(template, JSON.stringify(podTemplate));
    const createSettings = async (server: string) => {
      const kubeconfig = join(directory, `kubeconfig-${new URL(server).port}`);
      const clusters = [{ ...config.clusters[0], cluster: { ...cluster, server } }];
      await writeFile(kubeconfig, JSON.stringify({ ...config, clusters }));
      return {
        BOTHOST_RUNTIME: 'kubernetes',
        BOTHOST_LOCAL_IMAGES: 'true',
        BOTHOST_KUBERNETES_NAMESPACE: name,
        BOTHOST_KUBERNETES_POD_TEMPLATE: template,
        KUBECONFIG: kubeconfig,
      };
    };
    const pods = new Map<string, WatchedPod>();
    await copyToNode(images);
    try {
      await kubectl('create', 'namespace', name);
      // Without it, the API server refuses pods.
      await waitUntil('the service account', () => call('GET', '/serviceaccounts/default').catch(() => undefined));
      // The watch ends with the agent.
      followPods(await send('GET', '/pods?watch=true&timeoutSeconds=86400'), pods).catch(() => undefined);
      await use({
        environment: await createSettings(cluster.server),
        call,
        pods,
        startProxy: async () => {
          const proxy = await startApiServerProxy(cluster.server, { ca, cert, key });
          return { ...proxy, environment: await createSettings(proxy.origin) };
        },
      });
    } finally {
      await agent.destroy();
      await kubectl('delete', 'namespace', name, '--ignore-not-found', '--timeout=120s');
      await ctr('images', 'rm', ...images.map(nameOnNode));
    }
  });
}

async function followPods(watch: Readable, pods: Map<string, WatchedPod>): Promise<void> {
  for await (const line of createInterface({ input: watch })) {
    const { type, object }: PodEvent = JSON.parse(line);
    const { name } = object.metadata;
    const { podIP: ip, containerStatuses: [container] = [] } = object.status;
    const isEnded = container?.state?.terminated !== undefined;
    if (type === 'DELETED') pods.delete(name);
    else pods.set(name, { ip, endedAtMs: pods.get(name)?.endedAtMs ?? (isEnded ? Date.now() : undefined) });
  }
}

/** An event of a watch of pods (Kubernetes API, "WatchEvent"). */
type PodEvent = {
  readonly type: string;
  readonly object: {
    readonly metadata: { readonly name: string };
    readonly status: {
      readonly podIP?: string;
      readonly containerStatuses?: readonly { readonly state?: { readonly terminated?: object } }[];
    };
  };
};

async function copyToNode(images: readonly string[]): Promise<void> {
  const script = 'socket=$0 && docker save "$@" | ctr --address "$socket" --namespace k8s.io images import -';
  await run('sh', ['-c', script, containerdSocket, ...images]);
  // The kubelet can use an image a moment after its import.
  await waitUntil('the images on the node', async () => {
    const lines = (await ctr('images', 'ls'))
      .split('\n')
      .filter((line) => line.includes('io.cri-containerd.image=managed'));
    return images.every((image) => lines.some((line) => line.startsWith(nameOnNode(image)))) ? true : undefined;
  });
}

const nameOnNode = (image: string) => `docker.io/library/${image}`;

const ctr = async (...words: readonly string[]) =>
  (await run('ctr', ['--address', containerdSocket, '--namespace', 'k8s.io', ...words])).stdout;

const kubectl = async (...words: readonly string[]) =>
  (await run(join(clusterDirectory, 'kubectl'), ['--kubeconfig', join(clusterDirectory, 'kubeconfig'), ...words]))
    .stdout;

const file = new URL('../packages/runtime/test/kubernetes/api-server-proxy.js', import.meta.url);
const { startApiServerProxy }: { startApiServerProxy: (server: string, tls: object) => Promise<ApiServerProxy> } =
  await import(file.href);
