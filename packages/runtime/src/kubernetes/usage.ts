import type { ResourceUsage, RuntimeLogger } from '../runtime.ts';
import { type ApiClient, isApiError } from './api-client.ts';
import type { Instance } from './instance.ts';
import { containerName } from './pod-status.ts';

/** A kubelet that was asked within this time is not asked again. */
const minIntervalMs = 1_000;

export type UsageReader = {
  /** Reads the usage of instances from the kubelets of their nodes, and stores it in the instances. Never rejects. */
  readonly read: (instances: readonly Instance[]) => Promise<void>;
};

/**
 * Kubelets measure containers about every ten seconds. `getOrigin` returns the URL of the kubelet of a node, by its address. The
 * service needs the right to get `nodes/metrics`.
 */
export function createUsageReader(options: {
  readonly client: Pick<ApiClient, 'readKubelet'>;
  readonly namespace: string;
  readonly logger: RuntimeLogger;
  readonly now: () => Date;
  readonly getOrigin: (hostIp: string) => string;
}): UsageReader {
  const { client, namespace, logger, now } = options;
  const readings = new Map<
    string,
    { readonly begunAt: number; readonly done: Promise<ReadonlyMap<string, ResourceUsage>> }
  >();
  let isReported = false;

  const readNode = async (hostIp: string): Promise<ReadonlyMap<string, ResourceUsage>> => {
    try {
      return parseUsages(await client.readKubelet(options.getOrigin(hostIp), '/metrics/resource'), namespace);
    } catch (error) {
      const isRefused = isApiError(error, 401) || isApiError(error, 403);
      const advice = isRefused
        ? 'grant the right to get "nodes/metrics"'
        : 'check the network and the certificate of the kubelet';
      if (!isReported) logger.warn({ node: hostIp, err: error }, `usage of instances is not available: ${advice}`);
      isReported = true;
      return new Map();
    }
  };

  return {
    read: async (instances) => {
      const hosts = new Set(instances.flatMap((instance) => instance.pod()?.status.hostIP ?? []));
      const begunAt = now().getTime();
      for (const [hostIp, { begunAt: before }] of readings)
        if (!hosts.has(hostIp) || begunAt - before >= minIntervalMs) readings.delete(hostIp);
      for (const hostIp of hosts) if (!readings.has(hostIp)) readings.set(hostIp, { begunAt, done: readNode(hostIp) });
      const usages = await Promise.all([...readings.values()].map(({ done }) => done));
      for (const instance of instances) {
        const usage = usages.map((byPod) => byPod.get(instance.instanceId)).find((found) => found !== undefined);
        if (usage !== undefined) instance.recordUsage(usage);
      }
    },
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
