import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { findOrphanedResources } from '../../../runtime/test/orphans.ts';
import { createSeededRandom } from '../../../runtime/test/random.ts';
import { type CrashRun, prepareCrashRun } from './crash-service.ts';
import { findCrossSessionViolations, findViolations } from './invariants.ts';
import type { SessionRecord } from './observer.ts';
import type { ServerKill } from './phase-killer.ts';
import { type SessionPhase, sessionPhases } from './session-phases.ts';
import { beginSession, checkBotResponds, type Scenario, stopSession, waitForSessionEnd } from './session-scenario.ts';
import { summarizeCrashRun } from './summary.ts';

const wanted = inject('kills');
const perPhase = Math.floor(wanted / 10);
const seed = inject('killSeed');

describe(`${wanted} random kills of the server with five sessions in flight`, () => {
  const random = createSeededRandom(seed);
  const kills: ServerKill[] = [];
  let run: CrashRun;
  let scenarios: readonly Scenario[] = [];
  let records: readonly SessionRecord[] = [];

  beforeAll(async () => {
    const begun = performance.now();
    run = await prepareCrashRun(random);
    // One session lasts through all kills and receives a request from time to time.
    const { scenario: veteran } = await beginSession(run.context, 'stopped', 'veteran', 0);
    run.bystanders.add(veteran.sessionId ?? '');
    const clients = run.begin();
    while (kills.filter(({ phase }) => phase !== null).length < wanted) {
      if (random.next() < 0.1) kills.push(await run.killer.killAtBoot());
      else {
        await run.service.current().ready;
        if (random.next() < 0.2) await checkBotResponds(run.context, veteran);
        kills.push(await run.killer.kill(scarcest(kills)));
      }
      // Sometimes the server stays down for a while, and the bots run without it.
      if (random.next() < 0.3) await delay(random.below(1_000));
      run.service.start();
    }
    await clients.ended();
    await checkBotResponds(run.context, veteran);
    await stopSession(run.context, veteran);
    await waitForSessionEnd(run.context, veteran);
    scenarios = [...run.scenarios, veteran];
    records = await run.observer.records();
    const seconds = (performance.now() - begun) / 1000;
    process.stdout.write(`${summarizeCrashRun({ seed, seconds, kills, service: run.service, scenarios, records })}\n`);
  }, 1_200_000);
  afterAll(() => run?.cleanUp());

  it(`include at least ${perPhase} kills in every phase of a session`, () => {
    const hits = sessionPhases.map((phase) => ({ phase, times: timesOf(kills, phase) }));
    expect(hits.filter(({ times }) => times < perPhase)).toEqual([]);
  });

  it('never lose, duplicate or misreport a session', () => {
    const byId = new Map(records.map((record) => [record.id, record]));
    const entries = run.botEventFile.entries();
    const processes = run.service.processes.map((server) => ({
      startedAt: server.startedAt,
      exitedAt: server.exitedAt(),
    }));
    const problems = scenarios.flatMap((scenario) => {
      const { sessionId } = scenario;
      const mine = entries.filter(({ session }) => session === sessionId);
      const violated = sessionId === null ? [] : findViolations(scenario, byId.get(sessionId), mine, processes);
      return [...scenario.problems, ...violated].map(
        (problem) => `${scenario.kind} ${scenario.tag} ${sessionId}: ${problem}`,
      );
    });
    expect([...problems, ...findCrossSessionViolations(scenarios, records, entries)]).toEqual([]);
  });

  it('leave no orphaned processes or other resources after the last server stops on SIGTERM', async () => {
    const server = run.service.current();
    await server.ready;
    await run.observer.close();
    server.signal('SIGTERM');
    expect(await server.exited).toBe(0);
    expect(findOrphanedResources(run.directory)).toEqual([]);
  });
});

function timesOf(kills: readonly ServerKill[], phase: SessionPhase): number {
  return kills.filter((kill) => kill.phase === phase).length;
}

function scarcest(kills: readonly ServerKill[]): SessionPhase {
  return sessionPhases.reduce((least, phase) => (timesOf(kills, phase) < timesOf(kills, least) ? phase : least));
}
