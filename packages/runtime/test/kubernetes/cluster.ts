import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { inject, vi } from 'vitest';
import { runDocker } from '../docker/engine.ts';
import { findProcessIds } from '../orphans.ts';

const run = promisify(execFile);

/** The directory of the cluster, with `kubectl` and the settings of its container runtime. */
export const clusterDirectory = '/var/lib/bothost-test-kubernetes';
/** The registry of the cluster, without a password. */
export const clusterRegistry = '127.0.0.1:7500';

export const clusterKubeconfig = inject('kubeconfig');
export const noCluster =
  clusterKubeconfig === null
    ? 'a Kubernetes cluster needs root, containerd, CNI plugins, iptables and docker-registry'
    : null;

/** Returns the pids of a bot and its descendants, the oldest first. */
export const findPodProcesses = (instanceId: string) =>
  [...findProcessIds(`BOTHOST_INSTANCE=${instanceId}`)].sort((a, b) => a - b);

/** Lets the node pull from a registry of this machine, which has no TLS. Returns what ends that. */
export async function acceptRegistry(host: string): Promise<() => Promise<void>> {
  const directory = `${clusterDirectory}/registries/${host}`;
  await mkdir(directory);
  await writeFile(`${directory}/hosts.toml`, `server = "http://${host}"\n[host."http://${host}"]\n`);
  return () => rm(directory, { recursive: true });
}

/** Pushes an image of this machine's Docker engine to the registry of the cluster, and returns its reference there. */
export async function publishToCluster(image: string): Promise<string> {
  const reference = `${clusterRegistry}/${image}`;
  await runDocker('tag', image, reference);
  await runDocker('push', '-q', reference);
  await runDocker('rmi', reference);
  return reference;
}

/** Runs `kubectl` and returns its standard output. */
async function runKubectl(...words: readonly string[]): Promise<string> {
  const parameters = ['--kubeconfig', clusterKubeconfig ?? '', ...words];
  return (await run(`${clusterDirectory}/kubectl`, parameters, { maxBuffer: 64 * 1_048_576 })).stdout.trim();
}

/** A namespace of one test file. */
export type TestNamespace = {
  readonly name: string;
  readonly kubectl: typeof runKubectl;
  /** Names of the pods and Secrets. */
  readonly list: () => Promise<readonly string[]>;
  readonly remove: () => Promise<void>;
};

export async function createTestNamespace(): Promise<TestNamespace> {
  const name = `bothost-test-${randomBytes(4).toString('hex')}`;
  const kubectl = (...words: readonly string[]) => runKubectl('--namespace', name, ...words);
  await runKubectl('create', 'namespace', name);
  // Without it, the API server refuses pods.
  await vi.waitFor(() => kubectl('get', 'serviceaccount', 'default'), { timeout: 30_000, interval: 100 });
  const list = async () =>
    (await kubectl('get', 'pods,secrets', '-o', 'name')).split('\n').filter((line) => line !== '');
  return {
    name,
    kubectl,
    list,
    remove: async () => {
      // The grace period of a pod is as long as the longest session of its agent.
      const pids = (await list()).flatMap((object) => findPodProcesses(object.replace('pod/', '')));
      // Some processes may have ended in the meantime.
      await run('kill', ['-KILL', ...pids.map(String)]).catch(() => undefined);
      await runKubectl('delete', 'namespace', name, '--ignore-not-found');
    },
  };
}
