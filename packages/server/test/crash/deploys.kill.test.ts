import { EventEmitter, once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { seeded } from '../support/random.ts';
import { type ServiceProcess, serviceProcess } from '../support/service-process.ts';
import { type DeployPhase, deployPhase, deployPhases, halfDeploys } from './deploy-phases.ts';
import { type Deploy, type DeployContext, driveDeploy, nextDeploy, talkOn } from './deploy-scenario.ts';
import { type PastServer, pastServer } from './direct-database.ts';
import { leftovers, pidsOf } from './orphans.ts';

const wanted = Math.max(deployPhases.length, Math.ceil(inject('kills') / 4));
const seed = inject('killSeed');

/** Which request of the client begins a phase, how long it may take until the phase (ms), and how far looks are apart. */
const hunts: Readonly<Record<DeployPhase, { event: string; first: number; step: number; looks: number }>> = {
  upload: { event: 'upload', first: 40, step: 5, looks: 20 },
  'create-build': { event: 'create-build', first: 4, step: 1, looks: 20 },
  prepare: { event: 'create-build', first: 20, step: 5, looks: 60 },
  'create-deployment': { event: 'create-deployment', first: 4, step: 1, looks: 20 },
  validate: { event: 'create-deployment', first: 120, step: 10, looks: 40 },
  activate: { event: 'create-deployment', first: 20, step: 1, looks: 400 },
};

describe(`${wanted} kills of the server in the steps of deploys`, () => {
  const random = seeded(seed);
  const events = new EventEmitter().setMaxListeners(0);
  const hits: DeployPhase[] = [];
  const deploys: Deploy[] = [];
  const halves: string[] = [];
  let directory: string;
  let service: ServiceProcess;
  let past: PastServer;
  let met: readonly string[] = [];
  let current: Deploy | null = null;

  const context = (): DeployContext => ({ service, events, nextLife: (life) => service.ready(life) });
  const times = (phase: DeployPhase) => hits.filter((hit) => hit === phase).length;
  const scarcest = () => deployPhases.reduce((least, phase) => (times(phase) < times(least) ? phase : least));
  const look = () => (current === null ? Promise.resolve(null) : deployPhase(past, current.contentHash));

  /** Stops the server between two instructions, looks past it, and lets it go on or kills it right there. */
  async function kill(aim: DeployPhase, begun: Promise<unknown>, isOver: () => boolean): Promise<void> {
    const life = service.current();
    const { first, step, looks } = hunts[aim];
    await begun;
    await pause(random.next() * first);
    for (let count = 0; count < looks && !isOver(); count += 1) {
      life.freeze();
      const phase = await look();
      if (phase === aim) {
        life.signal('SIGKILL');
        await life.dead;
        await past.settled();
        halves.push(...(await halfDeploys(past)));
        hits.push(phase);
        service.start();
        return;
      }
      life.signal('SIGCONT');
      await pause(random.next() * step);
    }
  }

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'bothost-deploys-'));
    // Bots have accounts of their own and must pass through.
    chmodSync(directory, 0o711);
    service = serviceProcess({ directory, agents: [], port: await freePort() });
    await service.start().ready;
    past = pastServer(service.dataDirectory);
    let number = 0;
    const deployNext = async () => {
      const { deploy, bytes } = nextDeploy(number);
      number += 1;
      current = deploy;
      deploys.push(deploy);
      await driveDeploy(context(), deploy, bytes);
    };
    // The first one in peace, so that something serves from then on.
    await deployNext();
    const talk = talkOn(context());
    while (hits.length < wanted) {
      let isOver = false;
      const aim = scarcest();
      const begun = once(events, hunts[aim].event);
      const deploying = deployNext().finally(() => {
        isOver = true;
      });
      await kill(aim, begun, () => isOver);
      await deploying;
    }
    met = await talk.over();
    process.stdout.write(`seed ${seed}: ${deployPhases.map((phase) => `${phase} ${times(phase)}`).join(', ')}; `);
    process.stdout.write(`${deploys.length} deploys, ${met.length} sessions, ${service.lives.length} lives\n`);
  }, 1_200_000);
  afterAll(() => {
    for (const pid of pidsOf(directory)) process.kill(pid, 'SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  });

  it('hit every step', () => {
    expect(deployPhases.filter((phase) => times(phase) === 0)).toEqual([]);
  });

  it('leave no half version: what serves became ready, and nothing is on its way that is not wanted', async () => {
    expect(halves).toEqual([]);
    expect(await halfDeploys(past)).toEqual([]);
  });

  it('lose no deploy and no build, and make none twice', async () => {
    expect(deploys.flatMap(({ version, problems }) => problems.map((problem) => `${version}: ${problem}`))).toEqual([]);
    const whole = deploys.filter(({ isBroken }) => !isBroken);
    const rows = await past.rows(
      `select b.id, count(d.id)::int as deployments from builds b left join deployments d on d.build_id = b.id
        where b.state = 'success' group by b.id`,
    );
    const made = new Map(rows.map(({ id, deployments }) => [id, deployments]));
    expect(whole.filter(({ buildId }) => made.get(buildId) !== 1)).toEqual([]);
    expect(rows).toHaveLength(deploys.length);
  });

  it('never show a caller a broken version, or an older one after a newer one', () => {
    expect(met.filter((said) => !/^\d+$/.test(said))).toEqual([]);
    const broken = new Set(deploys.filter(({ isBroken }) => isBroken).map(({ version }) => version));
    expect(met.filter((said) => broken.has(said))).toEqual([]);
    expect(met.map(Number)).toEqual(met.map(Number).sort((one, other) => one - other));
    expect(met.length).toBeGreaterThan(0);
  });

  it('leave nothing running after an orderly stop', async () => {
    const life = service.current();
    await life.ready;
    await past.close();
    life.signal('SIGTERM');
    expect(await life.dead).toBe(0);
    expect(leftovers(directory)).toEqual([]);
  });
});

/** Timers have a grain of a millisecond, and some steps do not last longer. */
async function pause(milliseconds: number): Promise<void> {
  const until = performance.now() + milliseconds;
  if (milliseconds > 2) await delay(milliseconds);
  else while (performance.now() < until) await new Promise(setImmediate);
}
