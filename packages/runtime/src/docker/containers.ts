import { conversationFileVariable, recordingFileVariable } from '@bothost/contract';
import { botPort } from '../bot-port.ts';
import type { ConversationFiles } from '../output/conversation-files.ts';
import type { InstanceSpec } from '../runtime.ts';
import { type CpuPhase, computeCpuMillicores } from '../session-cpu.ts';
import { type EngineClient, EngineError, isEngineError } from './engine-client.ts';
import {
  containerListSchema,
  containerSchema,
  createdSchema,
  type EngineContainer,
  volumeUsageSchema,
} from './engine-schemas.ts';
import { agentLabel, deploymentLabel, filterByHost, hostLabel, instanceLabel, organizationLabel } from './labels.ts';
import { getNetworkName } from './network.ts';

/** Paths of the conversation's files in a container. */
const conversationTargets = { lines: '/run/bothost/conversation', recording: '/run/bothost/recording' } as const;
const maxProcesses = 512;
const maxOpenFiles = 4_096;
/** The engine may lose lines for a reader when it rotates its log, so it does not rotate it often. */
const minLogFileBytes = 16 * 1024 * 1024;
const cpuPeriodMicroseconds = 100_000;

export type ContainerOptions = {
  readonly hostId: string;
  readonly outputLimitBytes: number;
  /** Returns the paths of the conversation's files of an instance. The engine must see the same files at these paths. */
  readonly conversationPaths: (instanceId: string) => ConversationFiles<string>;
  /** Linux capabilities without the prefix `CAP_`, such as `SETUID`. */
  readonly capabilities: readonly string[];
};

export const getContainerName = (instanceId: string) => `bothost-${instanceId}`;

/** Creates the container of an instance and returns its id. @throws EngineError 404: the image is missing; 409: the name is taken */
export async function createContainer(
  engine: EngineClient,
  { hostId, outputLimitBytes, capabilities, conversationPaths }: ContainerOptions,
  spec: InstanceSpec,
  image: string,
  environment: Readonly<Record<string, string>>,
): Promise<string> {
  const { memoryBytes, cpuMillicores } = spec.limits;
  const sources = conversationPaths(spec.instanceId);
  const variables = {
    ...environment,
    PORT: String(botPort),
    BOT_HOST: '0.0.0.0',
    BOTHOST_INSTANCE: spec.instanceId,
    [conversationFileVariable]: conversationTargets.lines,
    [recordingFileVariable]: conversationTargets.recording,
  };
  const created = await engine.call('POST', '/containers/create', {
    query: { name: getContainerName(spec.instanceId) },
    body: {
      Image: image,
      Env: Object.entries(variables).map(([name, value]) => `${name}=${value}`),
      Labels: {
        [hostLabel]: hostId,
        [instanceLabel]: spec.instanceId,
        [deploymentLabel]: spec.deploymentId,
        [organizationLabel]: spec.organizationId,
        [agentLabel]: spec.agentId,
      },
      HostConfig: {
        Mounts: [
          { Type: 'bind', Source: sources.lines, Target: conversationTargets.lines },
          { Type: 'bind', Source: sources.recording, Target: conversationTargets.recording },
        ],
        NetworkMode: getNetworkName(hostId),
        Memory: memoryBytes,
        MemorySwap: memoryBytes,
        ...cpuLimit(cpuMillicores, 'opening'),
        PidsLimit: maxProcesses,
        Ulimits: [
          { Name: 'nofile', Soft: maxOpenFiles, Hard: maxOpenFiles },
          // A core dump would write secrets to the disk.
          { Name: 'core', Soft: 0, Hard: 0 },
        ],
        CapDrop: ['ALL'],
        CapAdd: capabilities,
        SecurityOpt: ['no-new-privileges'],
        RestartPolicy: { Name: 'no' },
        // Forwards signals, and reaps orphaned processes.
        Init: true,
        LogConfig: {
          Type: 'json-file',
          Config: { 'max-size': String(Math.max(Math.ceil(outputLimitBytes / 2), minLogFileBytes)), 'max-file': '2' },
        },
      },
    },
  });
  return createdSchema.parse(created).Id;
}

export async function startContainer(engine: EngineClient, containerId: string): Promise<void> {
  await engine.call('POST', `/containers/${containerId}/start`);
}

/** Returns null if the container does not exist. `name` is its name or id. */
export async function readContainer(engine: EngineClient, name: string): Promise<EngineContainer | null> {
  const found = await engine.call('GET', `/containers/${name}/json`).catch((error: unknown) => {
    if (isEngineError(error, 404)) return null;
    throw error;
  });
  return found === null ? null : containerSchema.parse(found);
}

/** Returns the containers of a host. With `measuresSize`, also the size of their files, which reads all directories of them. */
export async function listContainers(engine: EngineClient, hostId: string, measuresSize = false) {
  const query = { all: 'true', filters: filterByHost(hostId), ...(measuresSize ? { size: 'true' } : {}) };
  return containerListSchema.parse(await engine.call('GET', '/containers/json', { query }));
}

export async function readVolumeSizes(engine: EngineClient): Promise<ReadonlyMap<string, number>> {
  const usage = volumeUsageSchema.parse(await engine.call('GET', '/system/df', { query: { type: 'volume' } }));
  return new Map(usage.Volumes?.map(({ Name, UsageData }) => [Name, UsageData?.Size ?? 0]));
}

/** Does nothing if the container does not run or does not exist. */
export async function killContainer(engine: EngineClient, containerId: string, signal: string): Promise<void> {
  await engine.call('POST', `/containers/${containerId}/kill`, { query: { signal } }).catch((error: unknown) => {
    if (!isEngineError(error, 404) && !isEngineError(error, 409)) throw error;
  });
}

/** Removes a container that does not run, and its anonymous volumes. With `force`, kills it first. */
export async function removeContainer(engine: EngineClient, containerId: string, force = false): Promise<void> {
  const query = { v: 'true', force: String(force) };
  await engine.call('DELETE', `/containers/${containerId}`, { query }).catch((error: unknown) => {
    if (isEngineError(error, 404)) return;
    // Another request removes it.
    if (error instanceof EngineError && /removal of container .* is already in progress/.test(error.message)) return;
    throw error;
  });
}

export async function limitContainerCpu(
  engine: EngineClient,
  containerId: string,
  profileMillicores: number,
  phase: CpuPhase,
): Promise<void> {
  await engine.call('POST', `/containers/${containerId}/update`, { body: cpuLimit(profileMillicores, phase) });
}

/** A quota, because the engine refuses `NanoCpus` above the number of CPUs of the machine. */
function cpuLimit(profileMillicores: number, phase: CpuPhase) {
  const millicores = computeCpuMillicores(profileMillicores, phase);
  return { CpuPeriod: cpuPeriodMicroseconds, CpuQuota: Math.round((millicores / 1000) * cpuPeriodMicroseconds) };
}
