import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { inject, vi } from 'vitest';

const run = promisify(execFile);

/** The directory of the cluster, with the settings of its container runtime. */
const clusterDirectory = '/var/lib/bothost-test-kubernetes';
/** The registry of the cluster, without a password. */
export const clusterRegistry = '127.0.0.1:7500';

export const clusterKubeconfig = inject('kubeconfig');
export const noCluster =
  clusterKubeconfig === null
    ? 'a Kubernetes cluster needs root, containerd, CNI plugins, iptables and docker-registry'
    : null;

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
  return {
    name,
    kubectl,
    list: async () => (await kubectl('get', 'pods,secrets', '-o', 'name')).split('\n').filter((line) => line !== ''),
    remove: async () => void (await runKubectl('delete', 'namespace', name)),
  };
}
