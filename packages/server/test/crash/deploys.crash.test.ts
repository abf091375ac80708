import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Build } from '@bothost/contract';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { createSeededRandom } from '../../../runtime/test/random.ts';
import { createArchive } from '../support/archive.ts';
import { type CrashService, openCrashService } from './crash-service.ts';
import { deployPhases, deploySearches, findPartialDeploys, readDeployPhase } from './deploy-phases.ts';
import {
  createBuild,
  createDeployAttempt,
  type DeployAttempt,
  keepStartingSessions,
  runDeploy,
  uploadArchive,
} from './deploy-scenario.ts';
import { createPhaseKiller } from './phase-killer.ts';

const wanted = Math.max(deployPhases.length, Math.ceil(inject('kills') / 2));
const seed = inject('killSeed');

describe(`${wanted} kills of the server during deploys`, () => {
  const deploys: DeployAttempt[] = [];
  const partial: string[] = [];
  const missed: string[] = [];
  let service: CrashService;
  let met: readonly string[] = [];

  beforeAll(async () => {
    service = await openCrashService();
    const findPhases = async () =>
      new Set(await readDeployPhase(service.database(), deploys.at(-1)?.contentHash ?? ''));
    const killer = createPhaseKiller(service, createSeededRandom(seed), deploySearches, findPhases);
    const deployNext = () => {
      const deploy = createDeployAttempt(deploys.length);
      deploys.push(deploy);
      return runDeploy(service, deploy, killer.events);
    };
    // The first deploy is not interrupted, so that the agent always has a serving deployment.
    await deployNext();
    const talk = keepStartingSessions(service);
    // At most one kill per deploy, because the service gives up a build after two kills.
    while (killer.tally.total() < wanted) {
      const deploying = deployNext();
      if (await killer.kill(killer.tally.rarest(), deploying)) {
        partial.push(...(await findPartialDeploys(service.database())));
        service.start();
      }
      await deploying;
    }
    met = await talk.over();
    partial.push(...(await findPartialDeploys(service.database())));
    missed.push(...deployPhases.filter((phase) => killer.tally.times(phase) === 0));
    const { length } = service.processes;
    killer.tally.print(seed, `${deploys.length} deploys`, `${met.length} sessions`, `${length} servers`);
  }, 2_400_000);
  afterAll(() => service.remove());

  it('hit every step of a deploy', () => {
    expect(missed).toEqual([]);
  });

  it('leave no partial deploy: every active deployment is ready, and only the desired deployment of an agent is in progress', () => {
    expect(partial).toEqual([]);
  });

  it('never lose, duplicate or damage a deploy, build or upload', async () => {
    expect(deploys.flatMap(({ version, problems }) => problems.map((problem) => `${version}: ${problem}`))).toEqual([]);
    const builds = await service.database().rows(
      `select b.id, b.state, count(d.id)::int as deployments from builds b left join deployments d on d.build_id = b.id
        group by b.id`,
    );
    expect(builds.filter(({ state }) => state !== 'success')).toEqual([]);
    expect(builds).toHaveLength(deploys.length);
    const deploymentsOf = new Map(builds.map(({ id, deployments }) => [id, deployments]));
    expect(deploys.filter(({ isBroken, buildId }) => !isBroken && deploymentsOf.get(buildId) !== 1)).toEqual([]);
    expect(readdirSync(join(service.dataDirectory, 'builds/trees'))).toEqual([]);
    expect(readdirSync(join(service.dataDirectory, 'builds/uploads'))).toHaveLength(deploys.length);
  });

  it('never log the token of an upload', () => {
    expect(readFileSync(service.logFile, 'utf8')).not.toMatch(/\d{10}\.[A-Za-z0-9_-]{43}/);
  });

  it('never cause a session to run a broken version, or an older version after a newer version', () => {
    expect(met.filter((version) => !/^\d+$/.test(version))).toEqual([]);
    const broken = new Set(deploys.filter(({ isBroken }) => isBroken).map(({ version }) => version));
    expect(met.filter((version) => broken.has(version))).toEqual([]);
    expect(met.map(Number)).toEqual(met.map(Number).sort((one, other) => one - other));
    expect(met.length).toBeGreaterThan(0);
  });

  it('leave no orphaned processes or other resources after the last server stops on SIGTERM', () =>
    service.stopInOrder());
});

it('the server marks a build failed after two kills, and restarts a build after an orderly stop', async () => {
  const service = await openCrashService();
  onTestFinished(() => service.remove());
  const script = "echo begun; perl -e 'truncate(STDOUT,16*1024**4-8192)'; sleep 1000";
  const bytes = createArchive(
    { path: 'package.json', body: JSON.stringify({ main: 'index.js', scripts: { build: script } }) },
    { path: 'index.js', body: '' },
  );
  const params = { buildId: await createBuild(service, await uploadArchive(service, bytes)) };
  const starts = async () => {
    const { logs } = await service.client.getBuildLogs({ params });
    return logs.filter((line) => line.endsWith(' begun')).length;
  };
  const show = async (): Promise<Build> => (await service.client.getBuild({ params })).build;
  for (const [index, signal] of (['SIGTERM', 'SIGKILL', 'SIGTERM', 'SIGKILL'] as const).entries()) {
    await expect.poll(starts).toBe(index + 1);
    await service.restart(signal);
  }
  await expect.poll(async () => (await show()).status).toBe('failed');
  expect(await show()).toMatchObject({ errorCode: 'build-interrupted' });
  expect(await starts()).toBe(4);
});
