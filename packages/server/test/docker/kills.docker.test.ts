import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { appendFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import {
  importNodeImage,
  noPrivateEngine,
  type PrivateEngine,
  startPrivateEngine,
} from '../../../runtime/test/docker/private-engine.ts';
import { createSeededRandom } from '../../../runtime/test/random.ts';
import { describeUnless } from '../../../runtime/test/skip-with-reason.ts';
import { createBotEventFile } from '../crash/bot-event-file.ts';
import { openCrashService } from '../crash/crash-service.ts';
import { botEventFileName, createFixtureImageFiles } from '../crash/fixture-bots.ts';
import type { Scenario, ScenarioKind } from '../crash/invariants.ts';
import { openSessionRun, type SessionRun } from '../crash/session-run.ts';
import { runScenario } from '../crash/session-scenario.ts';
import { waitForSettledDeployment } from '../support/deploys.ts';

const kills = inject('kills');
const seed = inject('killSeed');
const clients = 4;
const sessionsPerKill = 4;
const kinds: readonly ScenarioKind[] = ['stopped', 'leaves', 'fails', 'crashes', 'mute-leaves', 'mute-fails'];
const targets = ['service', 'engine', 'service', 'container'] as const;

describeUnless(noPrivateEngine, `${kills} random kills of the service, the engine and containers`, () => {
  const scenarios: Scenario[] = [];
  let engine: PrivateEngine;
  let run: SessionRun;
  let images: readonly string[];

  beforeAll(async () => {
    const random = createSeededRandom(seed);
    engine = await startPrivateEngine();
    const events = createSocket('udp4').bind(0);
    await once(events, 'listening');
    images = await createImages(engine, events.address().port);
    run = await openSessionRun(random, async () => {
      const environment = {
        BOTHOST_RUNTIME: 'docker',
        BOTHOST_DOCKER_HOST: engine.host,
        BOTHOST_LOCAL_IMAGES: 'true',
      };
      const service = await openCrashService({ environment });
      const eventFile = join(service.directory, botEventFileName);
      createBotEventFile(eventFile);
      events.on('message', (line) => appendFileSync(eventFile, line));
      for (const [name, minAgents] of [
        ['parrot', 1],
        ['worker', 1],
        ['mute', 0],
      ] as const) {
        const body = { serviceName: name, image: `${name}:1`, autoScaling: { minAgents, maxAgents: 10 } };
        await service.client.createAgent({ body });
        expect((await waitForSettledDeployment(service, name)).errors).toEqual([]);
      }
      return service;
    });
    let isOver = false;
    const client = async (_: unknown, number: number) => {
      for (let count = 0; !isOver; count += 1) {
        const kind = kinds[(number + count) % kinds.length] ?? 'stopped';
        scenarios.push(await runScenario(run, kind, `${number}-${count}`));
        await delay(random.below(60));
      }
    };
    const clientsEnded = Promise.all(Array.from({ length: clients }, client));
    const counts = new Map<string, number>();
    for (let count = 0; count < kills || scenarios.length < sessionsPerKill * kills; count += 1) {
      const target = count < kills ? targets[count % targets.length] : undefined;
      if (target === 'service') await killService();
      else if (target === 'engine') await killEngine();
      else if (target === 'container') await killContainer();
      if (target !== undefined) counts.set(target, (counts.get(target) ?? 0) + 1);
      await delay(random.below(1_000));
    }
    isOver = true;
    await clientsEnded;
    console.log(`seed ${seed}: ${scenarios.length} sessions, kills: ${JSON.stringify([...counts])}`);
  }, 1_800_000);
  afterAll(async () => {
    await run.service.remove();
    await engine.close();
  });

  const killService = async () => {
    await run.service.current().ready;
    await run.killer.kill(run.killer.tally.rarest());
    if (run.random.next() < 0.3) await delay(run.random.below(1_000));
    run.service.start();
    await run.service.ready();
  };
  const killEngine = async () => {
    await engine.stop('SIGKILL');
    await delay(run.random.below(2_000));
    // With `live-restore`, bots go on. Without, they go on until the engine starts again.
    const keepsContainers = run.random.next() < 0.5;
    const start = () => engine.start({ 'live-restore': keepsContainers });
    await (keepsContainers ? start() : killBots(start));
  };
  const killContainer = async () => {
    const running = (await engine.run('ps', '-q')).split('\n').filter((id) => id !== '');
    const victim = running[run.random.below(running.length)];
    if (victim === undefined) return;
    const words = run.random.next() < 0.5 ? ['kill', victim] : ['rm', '-f', victim];
    // It may have ended in the meantime.
    await killBots(() => engine.run(...words).catch(() => undefined));
  };
  const killBots = async (kill: () => Promise<unknown>) => {
    const period = { from: Date.now(), to: Number.POSITIVE_INFINITY };
    run.botKills.push(period);
    await kill();
    period.to = Date.now();
  };

  it('never lose, duplicate or misreport a session', async () => {
    expect((await run.judge(scenarios)).join('\n')).toBe('');
  });

  it('leave no container, network, image, file of an instance or process', async () => {
    await run.service.stopInOrder();
    expect(await engine.run('ps', '-aq')).toBe('');
    expect(await engine.run('network', 'ls', '-q', '--filter', 'name=bothost-')).toBe('');
    expect(await listImages(engine)).toEqual(images);
    expect(readdirSync(join(run.service.dataDirectory, 'docker/instances'))).toEqual([]);
  });
});

/** Makes an image for each agent, and returns the ids of all images. */
async function createImages(engine: PrivateEngine, eventPort: number): Promise<readonly string[]> {
  await importNodeImage(engine, 'parrot:1', createFixtureImageFiles(eventPort), 'parrot/main.js');
  for (const name of ['worker', 'mute']) {
    const container = await engine.run('create', 'parrot:1');
    const command = `CMD ${JSON.stringify([process.execPath, `${name}/main.js`])}`;
    await engine.run('commit', '-c', command, container, `${name}:1`);
    await engine.run('rm', container);
  }
  return listImages(engine);
}

const listImages = async (engine: PrivateEngine) => (await engine.run('images', '-aq')).split('\n').sort();
