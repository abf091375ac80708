import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { noEngine, runDocker } from '../../../runtime/test/docker/engine.ts';
import { importNodeImage } from '../../../runtime/test/docker/private-engine.ts';
import { findPodProcesses, noCluster } from '../../../runtime/test/kubernetes/cluster.ts';
import { describeUnless } from '../../../runtime/test/skip-with-reason.ts';
import { createFixtureImageFiles } from '../crash/fixture-bots.ts';
import { imageAgents, killBots, runWithKills } from '../crash/image-kills.ts';
import type { Scenario } from '../crash/invariants.ts';
import type { SessionRun } from '../crash/session-run.ts';
import { type ClusterPlatform, openClusterPlatform } from './cluster-platform.ts';

const title = `${inject('kills')} random kills of the service, pods and connections to the API server`;

describeUnless(noCluster ?? noEngine, title, () => {
  let directory: string;
  let scenarios: readonly Scenario[];
  let platform: ClusterPlatform;
  let run: SessionRun;

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bothost-kills-'));
    platform = await openClusterPlatform();
    const createImages = async (eventPort: number) => {
      const files = createFixtureImageFiles(eventPort);
      const publish = async (agent: string) => {
        const name = `bothost-test-kills-${agent}:1`;
        await importNodeImage({ directory, run: runDocker }, name, files, `${agent}/main.js`);
        return platform.publishImage(name);
      };
      const [parrot, worker, mute] = [await publish('parrot'), await publish('worker'), await publish('mute')];
      return { parrot, worker, mute };
    };
    const targets = [
      { name: 'pod', kill: (current: SessionRun) => killPod(current, platform) },
      { name: 'connections', kill: (current: SessionRun) => interrupt(current, platform) },
    ];
    const environment = { ...platform.environment, BOTHOST_REGISTRIES: `http://${platform.registries}` };
    ({ run, scenarios } = await runWithKills({ environment, createImages, targets }));
  }, 1_800_000);
  afterAll(async () => {
    await run?.service.remove();
    await platform?.close();
    for (const agent of imageAgents) await runDocker('rmi', `bothost-test-kills-${agent}:1`);
    await rm(directory, { recursive: true });
  });

  it('never lose, duplicate or misreport a session', async () => {
    expect((await run.judge(scenarios)).join('\n')).toBe('');
  });

  it('leave no pod, Secret, file of an instance or process', async () => {
    await run.service.stopInOrder();
    await expect.poll(platform.namespace.list).toEqual([]);
    expect(await readdir(join(run.service.dataDirectory, 'kubernetes/instances'))).toEqual([]);
  });
});

/** Deletes a pod, or kills its bot. */
async function killPod(run: SessionRun, { namespace }: ClusterPlatform): Promise<void> {
  const pods = (await namespace.list()).filter((name) => name.startsWith('pod/'));
  const victim = pods[run.random.below(pods.length)];
  if (victim === undefined) return;
  await killBots(run, async () => {
    if (run.random.next() < 0.5) {
      await namespace.kubectl('delete', victim, '--ignore-not-found', '--grace-period=1');
    } else {
      const pids = findPodProcesses(victim.slice('pod/'.length));
      // It may have ended in the meantime.
      await promisify(execFile)('kill', ['-KILL', ...pids.map(String)]).catch(() => undefined);
    }
  });
}

/** Ends the connections to the API server, and refuses new ones for up to two seconds. */
async function interrupt(run: SessionRun, { proxy }: ClusterPlatform): Promise<void> {
  await proxy.stop();
  await delay(run.random.below(2_000));
  await proxy.start();
}
