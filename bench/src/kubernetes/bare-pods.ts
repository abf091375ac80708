import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { respondsWith200 } from '../benchmarked-service.ts';
import { waitUntil } from '../wait-until.ts';
import type { Cluster } from './cluster.ts';

/** The part of a pod that its creator decides. */
export type PodSpec = { readonly containers: readonly object[] };

const label = 'bothost-bench=bare';

/** Returns the specification of the only pod. */
export async function readPodSpec(cluster: Cluster): Promise<PodSpec> {
  const { items } = (await cluster.call('GET', '/pods')) as {
    readonly items: readonly { readonly spec: PodSpec & { readonly nodeName: string } }[];
  };
  const [pod, ...others] = items;
  if (pod === undefined || others.length > 0) throw new Error(`The cluster has ${items.length} pods instead of one.`);
  const { nodeName: _, ...spec } = pod.spec;
  return spec;
}

/** Creates a pod with its Secret, as the driver does, and waits until its bot is ready. Returns the origin of the bot. */
export async function startBarePod(cluster: Cluster, spec: PodSpec): Promise<string> {
  const name = `bare-${randomBytes(4).toString('hex')}`;
  const [key, value] = label.split('=');
  const containers = spec.containers.map((container) => ({ ...container, envFrom: [{ secretRef: { name } }] }));
  const metadata = { name, labels: { [key ?? '']: value } };
  await cluster.call('POST', '/pods', { metadata, spec: { ...spec, containers } });
  await cluster.call('POST', '/secrets', { metadata, data: {} });
  return waitUntil(name, async () => {
    const origin = `http://${cluster.pods.get(name)?.ip}:8080`;
    return cluster.pods.get(name)?.ip !== undefined && (await respondsWith200(`${origin}/readyz`)) ? origin : undefined;
  });
}

export async function removeBarePods(cluster: Cluster): Promise<void> {
  for (const kind of ['pods', 'secrets']) await cluster.call('DELETE', `/${kind}?labelSelector=${label}`);
}

/** Waits until former pods are removed, because that slows starts. */
export async function waitForNoPods({ pods }: Cluster): Promise<void> {
  await waitUntil('the removal of pods', async () => (pods.size === 0 ? true : undefined), { seconds: 180 });
  // The page cache keeps memory control groups of removed pods, and hundreds of them slow everything (cgroup v1).
  await writeFile('/proc/sys/vm/drop_caches', '3');
}
