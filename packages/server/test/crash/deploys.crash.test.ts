import { EventEmitter, once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { findOrphanedResources, findProcessIds } from '../../../runtime/test/orphans.ts';
import { createSeededRandom } from '../../../runtime/test/random.ts';
import { findFreePort } from '../support/free-port.ts';
import { createServiceProcess, type ServiceProcess } from '../support/service-process.ts';
import { type DeployPhase, deployPhases, findPartialDeploys, readDeployPhase } from './deploy-phases.ts';
import {
  createDeployAttempt,
  type DeployAttempt,
  type DeployContext,
  keepStartingSessions,
  runDeploy,
} from './deploy-scenario.ts';
import { type DirectDatabaseConnection, openDirectDatabaseConnection } from './direct-database-connection.ts';

const wanted = Math.max(deployPhases.length, Math.ceil(inject('kills') / 4));
const seed = inject('killSeed');

/**
 * How to kill the server in a phase of a deploy. After the client emits `event`, the test waits a random time of up to `first`
 * milliseconds. Then it inspects the database up to `inspections` times, at random intervals of up to `step` milliseconds. It
 * kills the server as soon as an inspection finds the deploy in the phase.
 */
const searches: Readonly<Record<DeployPhase, { event: string; first: number; step: number; inspections: number }>> = {
  upload: { event: 'upload', first: 40, step: 5, inspections: 20 },
  'create-build': { event: 'create-build', first: 4, step: 1, inspections: 20 },
  prepare: { event: 'create-build', first: 20, step: 5, inspections: 60 },
  'create-deployment': { event: 'create-deployment', first: 4, step: 1, inspections: 20 },
  validate: { event: 'create-deployment', first: 120, step: 10, inspections: 40 },
  activate: { event: 'create-deployment', first: 20, step: 1, inspections: 400 },
};

describe(`${wanted} kills of the server during deploys`, () => {
  const random = createSeededRandom(seed);
  const events = new EventEmitter().setMaxListeners(0);
  const hits: DeployPhase[] = [];
  const deploys: DeployAttempt[] = [];
  const partial: string[] = [];
  let directory: string;
  let service: ServiceProcess;
  let database: DirectDatabaseConnection;
  let met: readonly string[] = [];
  let current: DeployAttempt | null = null;

  const context = (): DeployContext => ({ service, events, nextServer: (number) => service.ready(number) });
  const times = (phase: DeployPhase) => hits.filter((hit) => hit === phase).length;
  const scarcest = () => deployPhases.reduce((least, phase) => (times(phase) < times(least) ? phase : least));
  const inspect = () => (current === null ? Promise.resolve(null) : readDeployPhase(database, current.contentHash));

  /** Suspends the server, inspects the database, and then either resumes the server or kills it. */
  async function kill(aim: DeployPhase, begun: Promise<unknown>, isOver: () => boolean): Promise<void> {
    const server = service.current();
    const { first, step, inspections } = searches[aim];
    await begun;
    await pause(random.next() * first);
    for (let count = 0; count < inspections && !isOver(); count += 1) {
      server.freeze();
      const phase = await inspect();
      if (phase === aim) {
        server.signal('SIGKILL');
        await server.exited;
        await database.settled();
        partial.push(...(await findPartialDeploys(database)));
        hits.push(phase);
        service.start();
        return;
      }
      server.signal('SIGCONT');
      await pause(random.next() * step);
    }
  }

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'bothost-deploys-'));
    // Bots run under their own accounts, which need permission to enter the temporary directory of this test.
    chmodSync(directory, 0o711);
    service = createServiceProcess({ directory, agents: [], port: await findFreePort() });
    await service.start().ready;
    database = openDirectDatabaseConnection(service.dataDirectory);
    let number = 0;
    const deployNext = async () => {
      const { deploy, bytes } = createDeployAttempt(number);
      number += 1;
      current = deploy;
      deploys.push(deploy);
      await runDeploy(context(), deploy, bytes);
    };
    // The first deploy is not interrupted, so that the agent always has a serving deployment.
    await deployNext();
    const talk = keepStartingSessions(context());
    while (hits.length < wanted) {
      let isOver = false;
      const aim = scarcest();
      const begun = once(events, searches[aim].event);
      const deploying = deployNext().finally(() => {
        isOver = true;
      });
      await kill(aim, begun, () => isOver);
      await deploying;
    }
    met = await talk.over();
    process.stdout.write(`seed ${seed}: ${deployPhases.map((phase) => `${phase} ${times(phase)}`).join(', ')}; `);
    process.stdout.write(`${deploys.length} deploys, ${met.length} sessions, ${service.processes.length} processes\n`);
  }, 1_200_000);
  afterAll(() => {
    for (const pid of findProcessIds(directory)) process.kill(pid, 'SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  });

  it('hit every step of a deploy', () => {
    expect(deployPhases.filter((phase) => times(phase) === 0)).toEqual([]);
  });

  it('leave no partial deploy: every active deployment is ready, and only the desired deployment of an agent is in progress', async () => {
    expect(partial).toEqual([]);
    expect(await findPartialDeploys(database)).toEqual([]);
  });

  it('never lose or duplicate a deploy or build', async () => {
    expect(deploys.flatMap(({ version, problems }) => problems.map((problem) => `${version}: ${problem}`))).toEqual([]);
    const whole = deploys.filter(({ isBroken }) => !isBroken);
    const rows = await database.rows(
      `select b.id, count(d.id)::int as deployments from builds b left join deployments d on d.build_id = b.id
        where b.state = 'success' group by b.id`,
    );
    const made = new Map(rows.map(({ id, deployments }) => [id, deployments]));
    expect(whole.filter(({ buildId }) => made.get(buildId) !== 1)).toEqual([]);
    expect(rows).toHaveLength(deploys.length);
  });

  it('never cause a session to run a broken version, or an older version after a newer version', () => {
    expect(met.filter((version) => !/^\d+$/.test(version))).toEqual([]);
    const broken = new Set(deploys.filter(({ isBroken }) => isBroken).map(({ version }) => version));
    expect(met.filter((version) => broken.has(version))).toEqual([]);
    expect(met.map(Number)).toEqual(met.map(Number).sort((one, other) => one - other));
    expect(met.length).toBeGreaterThan(0);
  });

  it('leave no orphaned processes or other resources after the last server stops on SIGTERM', async () => {
    const server = service.current();
    await server.ready;
    await database.close();
    server.signal('SIGTERM');
    expect(await server.exited).toBe(0);
    expect(findOrphanedResources(directory)).toEqual([]);
  });
});

/** Waits with a precision of less than the timer resolution of 1 ms, because some steps of a deploy last less than 1 ms. */
async function pause(milliseconds: number): Promise<void> {
  const until = performance.now() + milliseconds;
  if (milliseconds > 2) await delay(milliseconds);
  else while (performance.now() < until) await new Promise(setImmediate);
}
