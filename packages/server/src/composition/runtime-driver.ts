import type { DeploySource } from '@bothost/contract';
import type { RuntimeDriver } from '@bothost/runtime';
import { type RuntimeKind, runtimes } from '@bothost/runtime/registry';
import type { Config } from '../config.ts';

export const getRuntimeDriver = (kind: RuntimeKind): Pick<RuntimeDriver<never>, 'traits' | 'prepareServer'> =>
  runtimes[kind];

const startsPerProcessor = 4;

export function getDefaultStartsAtOnce(kind: RuntimeKind, processors: number): number {
  return getRuntimeDriver(kind).traits.startsAtOnce ?? startsPerProcessor * processors;
}

/** What the agents of this region are deployed from. */
export function getAcceptedSource(kind: RuntimeKind): DeploySource {
  return getRuntimeDriver(kind).traits.accepts.has('image') ? 'image' : 'build';
}

/** Whether sessions of this region get metrics. */
export function readsUsage({ runtime, kubernetesUsage }: Pick<Config, 'runtime' | 'kubernetesUsage'>): boolean {
  return !getRuntimeDriver(runtime).traits.isUsageOptional || kubernetesUsage === 'kubelet';
}

/** The URL at which bots reach the service, which listens at `url`. Null if there is none. */
export function findInternalUrl({ runtime, internalUrl }: Pick<Config, 'runtime' | 'internalUrl'>, url: string) {
  return internalUrl ?? (getRuntimeDriver(runtime).traits.reachesLoopback ? url : null);
}
