import type { ResourceUsage, RuntimeLogger } from '../runtime.ts';
import { type ClusterClient, isClusterError } from './cluster-client.ts';
import type { Instance } from './instance.ts';
import { containerName } from './pod-status.ts';

/** A kubelet that was asked within this time is not asked again. */
const minIntervalMs = 1_000;

/**
 * Returns a function that reads the usage of instances from the kubelets of their nodes, and stores it in the instances. Kubelets
 * measure containers about every ten seconds. `getOrigin` returns the URL of the kubelet of a node, by its address. The service needs
 * the right to get `nodes/metrics`.
 */
export function createUsageReader(options: {
  readonly client: Pick<ClusterClient, 'readKubelet'>;
  readonly namespace: string;
  readonly logger: RuntimeLogger;
  readonly now: () => Date;
  readonly getOrigin: (hostIp: string) => string;
}): (instances: readonly Instance[]) => Promise<void> {
  const { client, namespace, logger, now } = options;
  let readings = new Map<string, Promise<ReadonlyMap<string, ResourceUsage>>>();
  let begunAt = Number.NEGATIVE_INFINITY;
  let isReported = false;

  const readNode = async (hostIp: string): Promise<ReadonlyMap<string, ResourceUsage>> => {
    try {
      return parseUsages(await client.readKubelet(options.getOrigin(hostIp), '/metrics/resource'), namespace);
    } catch (error) {
      const isRefused = isClusterError(error, 401) || isClusterError(error, 403);
      const advice = isRefused
        ? 'grant the right to get "nodes/metrics"'
        : 'check the network and the certificate of the kubelet';
      if (!isReported) logger.warn({ node: hostIp, err: error }, `usage of instances is not available: ${advice}`);
      isReported = true;
      return new Map();
    }
  };

  const record = async (instance: Instance) => {
    const hostIp = instance.pod()?.status.hostIP;
    if (hostIp === undefined) return;
    const reading = readings.get(hostIp) ?? readNode(hostIp);
    readings.set(hostIp, reading);
    const usage = (await reading).get(instance.instanceId);
    if (usage !== undefined) instance.recordUsage(usage);
  };

  return async (instances) => {
    const at = now().getTime();
    if (at - begunAt >= minIntervalMs) {
      readings = new Map();
      begunAt = at;
    }
    await Promise.all(instances.map(record));
  };
}

/**
 * Parses the metrics of a kubelet, such as `container_cpu_usage_seconds_total{container="bot",namespace="bots",pod="a"} 0.5 1700000000000`
 * (Kubernetes documentation, "Node metrics data"), and returns those of a namespace by pod.
 */
export function parseUsages(text: string, namespace: string): ReadonlyMap<string, ResourceUsage> {
  const cpu = new Map<string, Pick<ResourceUsage, 'at' | 'cpuMicroseconds'>>();
  const memory = new Map<string, number>();
  const pattern = /^container_(cpu_usage_seconds_total|memory_working_set_bytes)\{([^}]*)\} (\S+) (\d+)$/gm;
  for (const [, metric, labelText = '', value, milliseconds] of text.matchAll(pattern)) {
    const labels = new Map([...labelText.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, label]) => [name, label]));
    const pod = labels.get('pod');
    if (pod === undefined || labels.get('namespace') !== namespace || labels.get('container') !== containerName)
      continue;
    if (metric === 'memory_working_set_bytes') memory.set(pod, Number(value));
    else cpu.set(pod, { at: new Date(Number(milliseconds)), cpuMicroseconds: Math.round(Number(value) * 1e6) });
  }
  const usages = new Map<string, ResourceUsage>();
  for (const [pod, memoryBytes] of memory) {
    const read = cpu.get(pod);
    if (read !== undefined) usages.set(pod, { ...read, memoryBytes });
  }
  return usages;
}
