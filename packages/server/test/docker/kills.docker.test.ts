import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import {
  importNodeImage,
  noPrivateEngine,
  type PrivateEngine,
  startPrivateEngine,
} from '../../../runtime/test/docker/private-engine.ts';
import { describeUnless } from '../../../runtime/test/skip-with-reason.ts';
import { createFixtureImageFiles } from '../crash/fixture-bots.ts';
import { killBots, runWithKills } from '../crash/image-kills.ts';
import type { Scenario } from '../crash/invariants.ts';
import type { SessionRun } from '../crash/session-run.ts';

describeUnless(noPrivateEngine, `${inject('kills')} random kills of the service, the engine and containers`, () => {
  let scenarios: readonly Scenario[];
  let engine: PrivateEngine;
  let run: SessionRun;
  let images: readonly string[];

  beforeAll(async () => {
    engine = await startPrivateEngine();
    const environment = {
      BOTHOST_RUNTIME: 'docker',
      BOTHOST_DOCKER_HOST: engine.host,
      BOTHOST_LOCAL_IMAGES: 'true',
    };
    const createImages = async (eventPort: number) => {
      await importNodeImage(engine, 'parrot:1', createFixtureImageFiles(eventPort), 'parrot/main.js');
      for (const name of ['worker', 'mute']) {
        const container = await engine.run('create', 'parrot:1');
        const command = `CMD ${JSON.stringify([process.execPath, `${name}/main.js`])}`;
        await engine.run('commit', '-c', command, container, `${name}:1`);
        await engine.run('rm', container);
      }
      images = await listImages(engine);
      return { parrot: 'parrot:1', worker: 'worker:1', mute: 'mute:1' };
    };
    const targets = [
      { name: 'engine', kill: (current: SessionRun) => killEngine(current, engine) },
      { name: 'container', kill: (current: SessionRun) => killContainer(current, engine) },
    ];
    ({ run, scenarios } = await runWithKills({ environment, createImages, targets }));
  }, 1_800_000);
  afterAll(async () => {
    await run?.service.remove();
    await engine?.close();
  });

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

async function killEngine(run: SessionRun, engine: PrivateEngine): Promise<void> {
  await engine.stop('SIGKILL');
  await delay(run.random.below(2_000));
  // With `live-restore`, bots go on. Without, they go on until the engine starts again.
  const keepsContainers = run.random.next() < 0.5;
  const start = () => engine.start({ 'live-restore': keepsContainers });
  await (keepsContainers ? start() : killBots(run, start));
}

async function killContainer(run: SessionRun, engine: PrivateEngine): Promise<void> {
  const running = (await engine.run('ps', '-q')).split('\n').filter((id) => id !== '');
  const victim = running[run.random.below(running.length)];
  if (victim === undefined) return;
  const words = run.random.next() < 0.5 ? ['kill', victim] : ['rm', '-f', victim];
  // It may have ended in the meantime.
  await killBots(run, () => engine.run(...words).catch(() => undefined));
}

const listImages = async (engine: PrivateEngine) => (await engine.run('images', '-aq')).split('\n').sort();
