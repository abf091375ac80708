import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createSeededRandom } from '../../../runtime/test/random.ts';
import { type Scenario, scenarioKinds } from './invariants.ts';
import { type SessionPhase, sessionSearches } from './session-phases.ts';
import { openSessionRun, type SessionRun } from './session-run.ts';
import {
  beginSession,
  checkBotResponds,
  keepRunningScenarios,
  stopSession,
  waitForSessionEnd,
} from './session-scenario.ts';
import { openWebhookCrashService, type WebhookCrashService } from './session-webhooks.ts';

const wanted = inject('kills');
const perPhase = Math.floor(wanted / 10);
const seed = inject('killSeed');
const clientCount = 5;

describe(`${wanted} random kills of the server with five sessions in flight`, () => {
  let scenarios: Scenario[] = [];
  let run: SessionRun;
  let webhooks: WebhookCrashService;

  beforeAll(async () => {
    webhooks = await openWebhookCrashService();
    run = await openSessionRun(createSeededRandom(seed), async () => webhooks.service);
    const { service, killer, random } = run;
    // One session lasts through all kills and receives a request from time to time.
    const { scenario: veteran } = await beginSession(run, 'stopped', 'veteran', 0);
    run.bystanders.add(veteran.sessionId ?? '');
    const clients = keepRunningScenarios(run, scenarioKinds, clientCount);
    scenarios = clients.scenarios;
    while (killer.tally.total() < wanted) {
      if (random.next() < 0.1) await killer.killAtStart();
      else {
        await service.current().ready;
        if (random.next() < 0.2) await checkBotResponds(run, veteran);
        await killer.kill(killer.tally.rarest());
      }
      // Sometimes the server stays down for a while, and the bots run without it.
      if (random.next() < 0.3) await delay(random.below(1_000));
      service.start();
    }
    clients.end();
    await clients.ended;
    await checkBotResponds(run, veteran);
    await stopSession(run, veteran);
    await waitForSessionEnd(run, veteran);
    scenarios.push(veteran);
    killer.tally.print(seed, `${scenarios.length} starts`, `${service.processes.length} servers`);
  }, 1_200_000);
  afterAll(async () => {
    await run.service.remove();
    await webhooks.receiver.close();
  });

  it(`include at least ${perPhase} kills in every phase of a session`, () => {
    const phases = Object.keys(sessionSearches) as SessionPhase[];
    expect(phases.filter((phase) => run.killer.tally.times(phase) < perPhase)).toEqual([]);
  });

  it('never lose, duplicate or misreport a session', async () => {
    expect((await run.judge(scenarios)).join('\n')).toBe('');
  });

  it('never lose an event of a session for a webhook, or send one before an earlier one', async () => {
    expect(await webhooks.findViolations(await run.records())).toEqual([]);
  });

  it('leave no orphaned processes or other resources after the last server stops on SIGTERM', () =>
    run.service.stopInOrder());
});
