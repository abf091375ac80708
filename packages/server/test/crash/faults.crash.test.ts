import { afterEach, beforeEach, describe, expect, inject, it } from 'vitest';
import { findProcessIds } from '../../../runtime/test/orphans.ts';
import { createSeededRandom } from '../../../runtime/test/random.ts';
import { createDirectoryLayout } from '../../src/store/embedded/layout.ts';
import { findPostmaster } from '../../src/store/embedded/postmaster.ts';
import { type Scenario, scenarioKinds } from './invariants.ts';
import { openSessionRun, type SessionRun } from './session-run.ts';
import { beginSession, runScenario } from './session-scenario.ts';

/** Duration of a session in milliseconds: long enough that the server can be killed after all sessions have started. */
const sessionMs = 4_000;

let run: SessionRun;

beforeEach(async () => {
  run = await openSessionRun(createSeededRandom(inject('killSeed')));
});
afterEach(() => run.service.remove());

/** Starts one session of each kind. Resolves when all bots have received their session. */
async function allBegun(milliseconds: number): Promise<{ readonly ended: Promise<Scenario[]> }> {
  const ended = Promise.all(scenarioKinds.map((kind) => runScenario(run, kind, kind, milliseconds)));
  const begun = async () => (await run.records()).filter((record) => record.bot_started_at !== null).length;
  await expect.poll(begun, { timeout: 60_000, interval: 20 }).toBe(scenarioKinds.length);
  return { ended };
}

async function postmaster(): Promise<number> {
  const pid = await findPostmaster(createDirectoryLayout(run.service.dataDirectory).data);
  if (pid === undefined) throw new Error('no database runs');
  return pid;
}

describe('a running service', () => {
  it('restarts its database and keeps all live sessions when the database is killed', async () => {
    const { ended } = await allBegun(sessionMs);
    const killed = await postmaster();
    process.kill(killed, 'SIGKILL');
    expect((await run.judge(await ended)).join('\n')).toBe('');
    expect(await postmaster()).not.toBe(killed);
    expect(run.service.processes).toHaveLength(1);
    await run.service.stopInOrder();
  });

  it('keeps all sessions when its server and database are killed', async () => {
    const { ended } = await allBegun(sessionMs);
    await run.service.kill([await postmaster()]);
    run.service.start();
    expect((await run.judge(await ended)).join('\n')).toBe('');
    await run.service.stopInOrder();
  });

  it('ends sessions with HTTP_ERROR or SERVICE_INTERRUPTED when server, database and bots are killed', async () => {
    const { service } = run;
    const { ended } = await allBegun(600_000);
    ended.catch(() => undefined);
    const before = await run.records();
    await service.kill(findProcessIds(service.directory).filter((pid) => pid !== service.current().pid));
    await service.start().ready;
    const open = async () => (await run.records()).filter(({ state }) => state !== 'ended').length;
    await expect.poll(open, { timeout: 60_000 }).toBe(0);
    const records = await run.records();
    expect(records).toHaveLength(before.length);
    const wrong = records.filter(
      ({ transport, completion_status }) =>
        completion_status !== (transport === 'websocket' ? 'SERVICE_INTERRUPTED' : 'HTTP_ERROR'),
    );
    expect(wrong).toEqual([]);
    await service.stopInOrder();
  });

  it('keeps the metrics of a live session when its server is killed', async () => {
    const { service } = run;
    const { scenario } = await beginSession(run, 'stopped', 'measured', 0);
    const sessionId = scenario.sessionId ?? '';
    const countSamples = async () => {
      const samples = `select coalesce(sum(json_array_length(samples)), 0)::int as count
        from session_samples where session_id = $1`;
      return (await service.database().rows(samples, [sessionId]))[0].count;
    };
    await expect.poll(countSamples, { timeout: 60_000 }).toBeGreaterThan(0);
    const before = await countSamples();
    await run.killer.kill('live');
    await service.start().ready;
    await expect.poll(countSamples, { timeout: 60_000 }).toBeGreaterThan(before);
    await service.stopInOrder();

    await service.start().ready;
    const [record] = await run.records([sessionId]);
    expect(record?.completion_status).toBe('SESSION_STOPPED');
    expect(record?.sample_count).toBeGreaterThan(before);
    const { resourceMetrics } = await service.client.getSession({ params: { agentName: 'parrot', sessionId } });
    expect((resourceMetrics?.timeseries[0]?.t ?? 0) * 1_000).toBeLessThan(service.processes[0]?.exitedAt() ?? 0);
    await service.stopInOrder();
  });
});
