import { createApiClient } from '@bothost/contract';
import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { findOrphanedResources, findProcessIds } from '../../../runtime/test/orphans.ts';
import { createSeededRandom } from '../../../runtime/test/random.ts';
import { createDirectoryLayout } from '../../src/store/embedded/layout.ts';
import { findPostmaster } from '../../src/store/embedded/postmaster.ts';
import { type CrashRun, prepareCrashRun } from './crash-service.ts';
import { findCrossSessionViolations, findViolations } from './invariants.ts';
import { beginSession, runScenario, type Scenario, type ScenarioKind, scenarioKinds } from './session-scenario.ts';

/** Duration of a session in milliseconds: long enough that the server can be killed after all sessions have started. */
const sessionMs = 4_000;

let run: CrashRun;

beforeEach(async () => {
  run = await prepareCrashRun(createSeededRandom(inject('killSeed')));
});
afterEach(() => run.cleanUp());

/** Starts one session of each kind. Resolves when all bots have received their session. */
async function allBegun(milliseconds: number): Promise<{ readonly ended: Promise<Scenario[]> }> {
  const ended = Promise.all(
    scenarioKinds.map((kind: ScenarioKind) => runScenario(run.context, kind, kind, milliseconds)),
  );
  const begun = async () => (await run.observer.records()).filter((record) => record.bot_started_at !== null).length;
  await expect.poll(begun, { timeout: 60_000, interval: 20 }).toBe(scenarioKinds.length);
  return { ended };
}

async function problemsOf(scenarios: readonly Scenario[]): Promise<readonly string[]> {
  const records = new Map((await run.observer.records()).map((record) => [record.id, record]));
  const entries = run.botEventFile.entries();
  const processes = run.service.processes.map((server) => ({
    startedAt: server.startedAt,
    exitedAt: server.exitedAt(),
  }));
  const violated = scenarios.flatMap((scenario) => [
    ...scenario.problems.map((problem) => `${scenario.kind}: ${problem}`),
    ...findViolations(
      scenario,
      records.get(scenario.sessionId ?? ''),
      entries.filter(({ session }) => session === scenario.sessionId),
      processes,
    ).map((problem) => `${scenario.kind}: ${problem}`),
  ]);
  return [...violated, ...findCrossSessionViolations(scenarios, [...records.values()], entries)];
}

async function postmaster(): Promise<number> {
  const pid = await findPostmaster(createDirectoryLayout(run.service.dataDirectory).data);
  if (pid === undefined) throw new Error('no database runs');
  return pid;
}

async function stopInOrder(): Promise<void> {
  const server = run.service.current();
  await server.ready;
  server.signal('SIGTERM');
  expect(await server.exited).toBe(0);
  expect(findOrphanedResources(run.directory)).toEqual([]);
}

describe('a running service', () => {
  it('restarts its database and keeps all live sessions when the database is killed', async () => {
    const { ended } = await allBegun(sessionMs);
    const killed = await postmaster();
    process.kill(killed, 'SIGKILL');
    expect(await problemsOf(await ended)).toEqual([]);
    expect(await postmaster()).not.toBe(killed);
    expect(run.service.processes).toHaveLength(1);
    await stopInOrder();
  });

  it('keeps all sessions when its server and database are killed', async () => {
    const { ended } = await allBegun(sessionMs);
    await run.killer.killAll([await postmaster()]);
    run.service.start();
    expect(await problemsOf(await ended)).toEqual([]);
    await stopInOrder();
  });

  it('ends sessions with HTTP_ERROR or SERVICE_INTERRUPTED when server, database and bots are killed', async () => {
    const { ended } = await allBegun(600_000);
    ended.catch(() => undefined);
    const before = await run.observer.records();
    await run.killer.killAll(findProcessIds(run.directory).filter((pid) => pid !== run.service.current().pid));
    const server = run.service.start();
    await server.ready;
    const open = async () => (await run.observer.records()).filter(({ state }) => state !== 'ended').length;
    await expect.poll(open, { timeout: 60_000 }).toBe(0);
    const records = await run.observer.records();
    expect(records).toHaveLength(before.length);
    const ends = records.map(({ transport, completion_status }) => [transport, completion_status]);
    const lost = records.map(({ transport }) => [
      transport,
      transport === 'websocket' ? 'SERVICE_INTERRUPTED' : 'HTTP_ERROR',
    ]);
    expect(ends).toEqual(lost);
    await stopInOrder();
  });

  it('keeps the metrics of a live session when its server is killed', async () => {
    const { service, observer } = run;
    const { scenario } = await beginSession(run.context, 'stopped', 'measured', 0);
    const sessionId = scenario.sessionId ?? '';
    const stored = () => observer.storedSamples(sessionId);
    await expect.poll(stored, { timeout: 60_000 }).toBeGreaterThan(0);
    const before = await stored();
    await run.killer.kill('live');
    await service.start().ready;
    await expect.poll(stored, { timeout: 60_000 }).toBeGreaterThan(before);
    await stopInOrder();

    await service.start().ready;
    const [record] = await observer.records([sessionId]);
    expect(record?.completion_status).toBe('SESSION_STOPPED');
    expect(record?.sample_count).toBeGreaterThan(before);
    const client = createApiClient({ origin: service.url, key: service.privateKey });
    const { resourceMetrics } = await client.getSession({ params: { agentName: 'parrot', sessionId } });
    expect((resourceMetrics?.timeseries[0]?.t ?? 0) * 1_000).toBeLessThan(service.processes[0]?.exitedAt() ?? 0);
    await stopInOrder();
  });
});
