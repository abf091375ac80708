import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BenchmarkedService } from '../benchmarked-service.ts';
import { callApi } from '../call-api.ts';
import { findProcessTree, readProportionalSetBytes, readTreeCpuSeconds } from '../process-usage.ts';
import { startSession, stopSession, waitForWarmInstances } from '../sessions.ts';
import { waitUntil } from '../wait-until.ts';

/** Sets `min_agents` and `max_agents` of a running agent, and waits until its instances are ready. */
export async function scaleAgent(
  service: BenchmarkedService,
  agent: string,
  minAgents: number,
  maxAgents = 50,
): Promise<void> {
  await callApi(service, 'POST', `/v1/agents/${agent}`, { autoScaling: { minAgents, maxAgents } });
  await waitForWarmInstances(service, agent, minAgents);
}

type AgentRecord = {
  readonly startMethod?: { readonly level: string; readonly reason: string | null };
};

async function readAgent(service: BenchmarkedService, agent: string): Promise<AgentRecord> {
  return (await callApi(service, 'GET', `/v1/agents/${agent}`)) as AgentRecord;
}

/** Sets `min_agents` to 0, then removes the warm instances by starting and stopping a session on each. */
export async function drainPool(service: BenchmarkedService, agent: string): Promise<void> {
  await scaleAgent(service, agent, 0);
  const instances = await listOpenInstances(service, agent);
  const sessions = await Promise.all(instances.map(() => startSession(service, agent, 'webrtc')));
  await Promise.all(sessions.map(({ id }) => stopSession(service, agent, id)));
}

type InstanceRow = {
  readonly id: string;
  readonly sessionId: string | null;
  /** Milliseconds from the creation of the instance until it was ready. */
  readonly bootMs: number;
};

/** The instances of an agent that are ready and have not ended. */
export async function listOpenInstances(service: BenchmarkedService, agent: string): Promise<readonly InstanceRow[]> {
  const text = `select instances.id, session_id as "sessionId",
      extract(epoch from ready_at - instances.created_at) * 1000 as "bootMs"
    from instances join agents on agents.id = agent_id
    where agents.name = $1 and ready_at is not null and ended_at is null order by instances.created_at`;
  const { rows } = await service.database.query(text, [agent]);
  return rows.map((row) => ({ ...row, bootMs: Number(row.bootMs) }));
}

/** The processes of an instance: `main` is a forked bot, and `keeper` is the supervisor of a spawned one. */
async function readInstanceProcesses(service: BenchmarkedService, instanceId: string) {
  const file = join(service.dataDirectory, 'instances', instanceId, 'spec.json');
  return JSON.parse(await readFile(file, 'utf8')) as Record<'main' | 'keeper', { readonly pid: number } | null>;
}

/** False also for an instance that has just been removed. */
export async function isForkedInstance(service: BenchmarkedService, instanceId: string): Promise<boolean> {
  return readInstanceProcesses(service, instanceId).then(
    ({ main }) => main != null,
    () => false,
  );
}

async function findInstanceProcess(service: BenchmarkedService, instanceId: string): Promise<number> {
  const { main, keeper } = await readInstanceProcesses(service, instanceId);
  const process = main ?? keeper;
  if (process == null) throw new Error(`The instance ${instanceId} has no process id.`);
  return process.pid;
}

/**
 * Returns the memory of an instance in bytes. Memory that the instance shares with other processes counts proportionally (PSS).
 */
export async function readInstanceMemoryBytes(service: BenchmarkedService, instanceId: string): Promise<number> {
  return readProportionalSetBytes(await findProcessTree(await findInstanceProcess(service, instanceId)));
}

export async function readInstanceCpuMs(service: BenchmarkedService, instanceId: string): Promise<number> {
  return (await readTreeCpuSeconds(await findInstanceProcess(service, instanceId))) * 1000;
}

/**
 * Waits until exactly one fork server (a process that forks the agent's instances) runs, has imported the bot, and has an id
 * other than `former`. Returns this id.
 */
export async function waitForForkServer(
  service: BenchmarkedService,
  agent: string,
  former: string | null = null,
): Promise<string> {
  return waitUntil(`the fork server of ${agent}`, async () => {
    const { startMethod } = await readAgent(service, agent);
    const [id, ...others] = await forkServerIds(service);
    const isReady = startMethod?.level === 'module' && startMethod.reason === null;
    return isReady && others.length === 0 && id !== former ? id : undefined;
  });
}

async function forkServerIds(service: BenchmarkedService): Promise<readonly string[]> {
  const names = await readdir(join(service.dataDirectory, 'fork-servers'));
  return names.filter((name) => /^[0-9a-f]{12}$/.test(name));
}
