import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, inject } from 'vitest';
import { createSeededRandom } from '../../../runtime/test/random.ts';
import { waitForSettledDeployment } from '../support/deploys.ts';
import { createBotEventFile } from './bot-event-file.ts';
import { openCrashService } from './crash-service.ts';
import { botEventFileName } from './fixture-bots.ts';
import type { ScenarioKind } from './invariants.ts';
import { openSessionRun, type SessionRun } from './session-run.ts';
import { keepRunningScenarios } from './session-scenario.ts';

const clients = 4;
const sessionsPerKill = 4;
const kinds: readonly [ScenarioKind, ...ScenarioKind[]] = [
  'stopped',
  'leaves',
  'fails',
  'crashes',
  'mute-leaves',
  'mute-fails',
];

/** The agents of the scenarios, whose images have the files of `createFixtureImageFiles`. */
export const imageAgents = ['parrot', 'worker', 'mute'] as const;

export type ImageKills = {
  /** Environment variables of the service. */
  readonly environment: Readonly<Record<string, string>>;
  /** Makes the images of the agents, whose bots send their events to a port of this machine, and returns their references. */
  readonly createImages: (eventPort: number) => Promise<Readonly<Record<(typeof imageAgents)[number], string>>>;
  /** What is killed besides the service. */
  readonly targets: readonly { readonly name: string; readonly kill: (run: SessionRun) => Promise<void> }[];
};

/** Runs sessions while the service and other targets are killed in turns. Returns when all sessions have ended. */
export async function runWithKills({ environment, createImages, targets }: ImageKills) {
  const [kills, seed] = [inject('kills'), inject('killSeed')];
  const random = createSeededRandom(seed);
  const events = createSocket('udp4').bind(0);
  await once(events, 'listening');
  const images = await createImages(events.address().port);
  const service = await openCrashService({ environment });
  try {
    const run = await openSessionRun(random, async () => {
      const eventFile = join(service.directory, botEventFileName);
      createBotEventFile(eventFile);
      events.on('message', (line) => appendFileSync(eventFile, line));
      for (const name of imageAgents) {
        const autoScaling = { minAgents: name === 'mute' ? 0 : 1, maxAgents: 10 };
        await service.client.createAgent({ body: { serviceName: name, image: images[name], autoScaling } });
        expect((await waitForSettledDeployment(service, name)).errors).toEqual([]);
      }
      return service;
    });
    const turns = targets.flatMap((target) => [{ name: 'service', kill: killService }, target]);
    const { scenarios, counts } = await runClients(run, kills, turns);
    console.log(`seed ${seed}: ${scenarios.length} sessions, kills: ${JSON.stringify([...counts])}`);
    return { run, scenarios };
  } catch (error) {
    await service.remove();
    throw error;
  } finally {
    events.close();
  }
}

async function runClients(run: SessionRun, kills: number, turns: ImageKills['targets']) {
  const { scenarios, ended, end } = keepRunningScenarios(run, kinds, clients);
  const counts = new Map<string, number>();
  const kill = async () => {
    for (let count = 0; count < kills || scenarios.length < sessionsPerKill * kills; count += 1) {
      const target = count < kills ? turns[count % turns.length] : undefined;
      if (target !== undefined) {
        await target.kill(run);
        counts.set(target.name, (counts.get(target.name) ?? 0) + 1);
      }
      await delay(run.random.below(1_000));
    }
  };
  // Fails at once with a client, because the number of scenarios would not grow then.
  await Promise.race([kill(), ended]).finally(end);
  await ended;
  return { scenarios, counts };
}

async function killService(run: SessionRun): Promise<void> {
  await run.service.current().ready;
  await run.killer.kill(run.killer.tally.rarest());
  if (run.random.next() < 0.3) await delay(run.random.below(1_000));
  run.service.start();
  await run.service.ready();
}

/** Records that bots may die while `kill` runs. */
export async function killBots(run: SessionRun, kill: () => Promise<unknown>): Promise<void> {
  const period = { from: Date.now(), to: Number.POSITIVE_INFINITY };
  run.botKills.push(period);
  await kill();
  period.to = Date.now();
}
