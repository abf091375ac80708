import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { FakeFault, FakeRequest } from '../../../runtime/test/kubernetes/fake-api-server.ts';
import { type FakeCluster, startFakeCluster } from '../../../runtime/test/kubernetes/fake-cluster.ts';
import { createFixtureImageFiles } from './fixture-bots.ts';
import { killBots, runWithKills } from './image-kills.ts';
import type { Scenario } from './invariants.ts';
import type { SessionRun } from './session-run.ts';

/** Milliseconds that a fault lasts at most. */
const maxFaultMs = 2_000;
const quota = { status: 403, message: 'exceeded quota: bots', reason: 'Forbidden' };
const conflict = { status: 409, message: 'Operation cannot be fulfilled', reason: 'Conflict' };
const acts: readonly [FakeFault['act'], ...FakeFault['act'][]] = [
  'no-response',
  'lost-response',
  { status: 429, message: 'too many requests', retryAfter: 1 },
  { status: 500, message: 'etcd has no leader' },
  { status: 503, message: 'shutting down' },
  quota,
  conflict,
];
const halfLine = '{"type":"MODIFIED","object":{"meta';

describe(`${inject('kills')} random kills of the service and faults of a cluster`, () => {
  let directory: string;
  let cluster: FakeCluster;
  let scenarios: readonly Scenario[];
  let run: SessionRun;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'bothost-images-'));
    cluster = await startFakeCluster();
    const environment = {
      BOTHOST_RUNTIME: 'kubernetes',
      KUBECONFIG: cluster.kubeconfig,
      BOTHOST_KUBERNETES_USAGE: 'off',
      BOTHOST_LOCAL_IMAGES: 'true',
    };
    const createImages = async (eventPort: number) => {
      for (const [path, content] of Object.entries(createFixtureImageFiles(eventPort))) {
        mkdirSync(dirname(join(directory, path)), { recursive: true });
        writeFileSync(join(directory, path), content);
      }
      const create = (agent: string) => {
        const reference = `registry.test/${agent}:1`;
        cluster.node.images.set(reference, { directory, main: `${agent}/main.js` });
        return reference;
      };
      return { parrot: create('parrot'), worker: create('worker'), mute: create('mute') };
    };
    const faults = [endPod, failRequests, interruptWatch, loseNode, stopResponding];
    const targets = faults.map((fault) => ({ name: fault.name, kill: (of: SessionRun) => fault(of, cluster) }));
    ({ run, scenarios } = await runWithKills({ environment, createImages, targets }));
  }, 1_800_000);
  afterAll(async () => {
    await run?.service.remove();
    await cluster.close();
    rmSync(directory, { recursive: true });
  });

  it('never lose, duplicate or misreport a session', async () => {
    expect((await run.judge(scenarios)).join('\n')).toBe('');
  });

  it('leave no pod, Secret or file of an instance', async () => {
    await run.service.stopInOrder();
    const { pods, secrets } = cluster.server;
    await expect.poll(() => [...pods.keys(), ...secrets.keys()]).toEqual([]);
    expect(readdirSync(join(run.service.dataDirectory, 'kubernetes/instances'))).toEqual([]);
  });
});

const pause = ({ random }: SessionRun) => delay(random.below(maxFaultMs));

/** Adds a fault for a while. */
async function failFor(run: SessionRun, { server }: FakeCluster, fault: Omit<FakeFault, 'times'>): Promise<void> {
  const active: FakeFault = { ...fault, times: Number.POSITIVE_INFINITY };
  server.faults.push(active);
  await pause(run);
  active.times = 0;
}

/** A pod is deleted or evicted, or its bot is killed. */
async function endPod(run: SessionRun, { server, node }: FakeCluster): Promise<void> {
  const pods = [...server.pods.values()].filter(({ status }) => status.phase === 'Running');
  const pod = pods[run.random.below(pods.length)];
  if (pod === undefined) return;
  await killBots(run, async () => {
    if (run.random.next() < 0.5) {
      pod.metadata.deletionTimestamp ??= new Date().toISOString();
      server.update(pod);
      server.events.emit('deleting', pod, 1);
    } else {
      if (run.random.next() < 0.5)
        Object.assign(pod.status, { reason: 'Evicted', message: 'The node was low on memory.' });
      node.kill(pod.metadata.name, 'SIGKILL');
    }
  });
}

/** Half of the requests fail. */
async function failRequests(run: SessionRun, cluster: FakeCluster): Promise<void> {
  const act = run.random.pick(acts);
  const mayMatch = ({ method, path }: FakeRequest) =>
    (act !== quota && act !== conflict) || (method === 'POST' && path.endsWith('/pods'));
  await failFor(run, cluster, { matches: (request) => mayMatch(request) && run.random.next() < 0.5, act });
}

/** The API server does not respond at all. */
async function stopResponding(run: SessionRun, cluster: FakeCluster): Promise<void> {
  cluster.server.dropWatches();
  await failFor(run, cluster, { matches: () => true, act: 'no-response' });
}

/** The watch of pods stalls, or ends in one of several ways, after which the API server may lack its next event. */
async function interruptWatch(run: SessionRun, { server }: FakeCluster): Promise<void> {
  server.stalls = true;
  await pause(run);
  if (run.random.next() < 0.3) server.expireHistory();
  server.stalls = false;
  const last = run.random.pick([null, '', 'proxy error\n', halfLine]);
  if (last !== null) server.dropWatches(last);
}

/** The node does not respond for a while, but its pods keep running. */
async function loseNode(run: SessionRun, { server }: FakeCluster): Promise<void> {
  const pods = [...server.pods.values()].filter(({ status }) => status.phase === 'Running');
  const setReady = (status: 'True' | 'False') => {
    for (const pod of pods) {
      pod.status.conditions = [
        ...pod.status.conditions.filter(({ type }) => type !== 'Ready'),
        { type: 'Ready', status },
      ];
      server.update(pod);
    }
  };
  setReady('False');
  await pause(run);
  setReady('True');
}
