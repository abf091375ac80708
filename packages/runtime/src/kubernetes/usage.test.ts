import { describe, expect, it } from 'vitest';
import { parseUsages } from './usage.ts';

/** As a kubelet of Kubernetes 1.34 writes it. */
const metrics = `# HELP container_cpu_usage_seconds_total [STABLE] Cumulative cpu time consumed by the container in core-seconds
# TYPE container_cpu_usage_seconds_total counter
container_cpu_usage_seconds_total{container="bot",namespace="bots",pod="a"} 1.5 1764356400123
container_cpu_usage_seconds_total{container="bot",namespace="other",pod="a"} 9 1764356400123
container_cpu_usage_seconds_total{container="sidecar",namespace="bots",pod="a"} 9 1764356400123
container_memory_working_set_bytes{container="bot",namespace="bots",pod="a"} 1.048576e+06 1764356401456
container_memory_working_set_bytes{container="bot",namespace="bots",pod="starting"} 4096 1764356401456
node_cpu_usage_seconds_total 100 1764356400123
`;

describe('parseUsages', () => {
  it('returns the usage of bots in the namespace, with the time at which the kubelet read it', () => {
    const usage = { at: new Date(1_764_356_400_123), cpuMicroseconds: 1_500_000, memoryBytes: 1_048_576 };
    expect([...parseUsages(metrics, 'bots')]).toEqual([['a', usage]]);
  });
});
