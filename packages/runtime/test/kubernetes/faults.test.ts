import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { KubernetesRuntimeOptions } from '../../src/kubernetes/kubernetes-runtime.ts';
import type { InstanceEvent, InstanceSpec, Runtime } from '../../src/runtime.ts';
import { createTestInstanceSpec } from '../instance-spec.ts';
import { type FakeCluster, startFakeCluster } from './fake-cluster.ts';
import type { FakeImage } from './fake-node.ts';
import type { FakePod } from './fake-pod.ts';
import { getTestHostId, openKubernetesRuntime } from './setup.ts';

const neverAborted = new AbortController().signal;
/** Milliseconds until the pod of a session is marked. */
const markedMs = 10_000;
const reference = 'registry.test/team/bot:1';
const digest = `sha256:${'a'.repeat(64)}`;
const bot = `
const server = require('node:http').createServer((request, response) => response.end('{}'));
server.listen(process.env.PORT, process.env.BOT_HOST);
process.on('SIGTERM', () => process.exit(0));
`;

/** A cluster of its own, with an image of a bot that responds to every request, and a server. */
async function open(image: Partial<FakeImage> = {}, options: Partial<KubernetesRuntimeOptions> = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-kubernetes-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await mkdir(join(directory, 'bot'));
  await writeFile(join(directory, 'bot/index.js'), bot);
  const cluster = await startFakeCluster();
  onTestFinished(() => cluster.close());
  cluster.node.images.set(reference, { directory: join(directory, 'bot'), ...image });
  const dataDirectory = join(directory, 'data');
  const openServer = () =>
    openKubernetesRuntime(dataDirectory, {
      kubeconfig: cluster.kubeconfig,
      allowsLocalImages: false,
      getKubeletOrigin: () => cluster.server.origin,
      ...options,
    });
  let runtime = await openServer();
  const watching = new AbortController();
  const events: InstanceEvent[] = [];
  const watch = async (watched: Runtime) => {
    for await (const event of watched.watch(watching.signal)) events.push(event);
  };
  void watch(runtime);
  onTestFinished(async () => {
    watching.abort();
    await runtime.close();
  });
  const source = { kind: 'image', reference, organizationId: 'acme' } as const;
  const prepared = await runtime.prepare({ id: 'd1', source }, () => undefined, neverAborted);
  const spec = (instanceId: string, fields: Partial<InstanceSpec> = {}) =>
    createTestInstanceSpec({ instanceId, deploymentId: 'd1', prepared, ...fields });
  const restart = async () => {
    await runtime.close();
    runtime = await openServer();
    void watch(runtime);
    return runtime;
  };
  return { ...cluster, dataDirectory, runtime, restart, spec, events };
}

const podOf = ({ server }: Pick<FakeCluster, 'server'>, name: string) => {
  const pod = server.pods.get(name);
  if (pod === undefined) throw new Error(`There is no pod ${name}.`);
  return pod;
};
const isCreation = ({ method, path }: { method: string; path: string }) => method === 'POST' && path.endsWith('/pods');
const details = (events: readonly InstanceEvent[]) =>
  events.flatMap((event) => (event.kind === 'noticed' ? `${event.notice}: ${event.detail}` : []));

describe('a start in a cluster', () => {
  it('says that no node has room, and continues when there is room', async () => {
    const { runtime, node, spec, events, server } = await open();
    node.lacksRoom = '0/3 nodes are available: 3 Insufficient cpu.';
    let isLaunched = false;
    const started = runtime.start(spec('a'), neverAborted, () => {
      isLaunched = true;
    });
    await expect
      .poll(() => details(events))
      .toEqual(['waiting: no node can run the pod now: 0/3 nodes are available: 3 Insufficient cpu.']);
    expect(isLaunched).toBe(false);
    node.lacksRoom = null;
    expect(await started).toMatchObject({ address: { host: podOf({ server }, 'a').status.podIP, port: 8080 } });
    expect(isLaunched).toBe(true);
  });

  it('rejects with the reason if it is aborted while no node has room, and leaves neither a pod nor a Secret', async () => {
    const { runtime, node, spec, events, server } = await open();
    node.lacksRoom = '0/3 nodes are available: 3 Insufficient cpu.';
    const deadline = new AbortController();
    const credentials = async () => ({ registry: 'registry.test', username: 'acme', password: 'hidden-password' });
    const started = runtime.start(spec('a', { credentials }), deadline.signal);
    await expect.poll(() => details(events)).toHaveLength(1);
    deadline.abort();
    await expect(started).rejects.toMatchObject({
      kind: 'platform',
      exit: null,
      message: 'The start waited: no node can run the pod now: 0/3 nodes are available: 3 Insufficient cpu.',
    });
    expect([server.pods.size, server.secrets.size]).toEqual([0, 0]);
    expect(await runtime.list()).toEqual([]);
  });

  it.each([
    [
      'the quota is used up',
      1,
      { status: 403, message: 'pods "a" is forbidden: exceeded quota: bots', reason: 'Forbidden' },
      'exceeded quota: bots',
    ],
    [
      'the quota changes meanwhile',
      1,
      { status: 409, message: 'Operation cannot be fulfilled', reason: 'Conflict' },
      'Operation cannot be fulfilled',
    ],
    ['the API server does not respond', 5, 'no-response', 'does not respond'],
    ['the API server is overloaded', 5, { status: 429, message: 'too many requests' }, 'too many requests'],
  ] as const)('waits while %s', { timeout: 20_000 }, async (_, times, act, detail) => {
    const { runtime, server, spec, events } = await open();
    server.faults.push({ matches: isCreation, times, act });
    await runtime.start(spec('a'), neverAborted);
    expect(details(events)).toEqual([expect.stringContaining(detail)]);
  });

  it('reaches a pod at an IPv6 address', async () => {
    const { runtime, server, node, spec } = await open();
    node.usesIpv6 = true;
    const { address } = await runtime.start(spec('a'), neverAborted);
    expect(address).toEqual({ host: podOf({ server }, 'a').status.podIP, port: 8080 });
    expect(address).toMatchObject({ host: expect.stringMatching(/^::/) });
  });

  it.each([
    ['refused by admission', { status: 403, message: 'admission webhook "policy.test" denied the request: no' }],
    ['refused as invalid', { status: 422, message: 'Pod "a" is invalid: spec: Forbidden' }],
  ])('is a failure of the platform if the pod is %s', async (_, act) => {
    const { runtime, server, spec } = await open();
    server.faults.push({ matches: isCreation, times: 1, act: { ...act, reason: 'Forbidden' } });
    const message = `The pod could not be created: ${act.message}`;
    await expect(runtime.start(spec('a'), neverAborted)).rejects.toMatchObject({
      kind: 'platform',
      exit: null,
      message,
    });
    expect(await runtime.list()).toEqual([]);
  });

  it('makes one pod although the response to its creation is lost', async () => {
    const { runtime, server, spec } = await open();
    server.faults.push({ matches: isCreation, times: 1, act: 'lost-response' });
    await runtime.start(spec('a'), neverAborted);
    expect(server.requests.filter(isCreation)).toHaveLength(2);
    expect([server.pods.size, server.secrets.size]).toEqual([1, 1]);
  });

  it('deletes the pod if its variables cannot be stored', async () => {
    const { runtime, server, spec } = await open();
    const act = { status: 403, message: 'secrets is forbidden', reason: 'Forbidden' };
    server.faults.push({ matches: ({ path }) => path.endsWith('/secrets'), times: 1, act });
    await expect(runtime.start(spec('a'), neverAborted)).rejects.toMatchObject({ kind: 'platform', exit: null });
    expect(server.pods.size).toBe(0);
  });

  it('fails if a quota that changes meanwhile refuses the Secret, and not if the Secret exists', async () => {
    const { runtime, server, spec } = await open();
    const matches = ({ path }: { path: string }) => path.endsWith('/secrets');
    server.faults.push({ matches, times: 1, act: { status: 409, message: 'quota was modified', reason: 'Conflict' } });
    const message = 'The pod could not be created: quota was modified';
    await expect(runtime.start(spec('a'), neverAborted)).rejects.toMatchObject({ kind: 'platform', message });
    server.faults.push({ matches, times: 1, act: 'lost-response' });
    await runtime.start(spec('b'), neverAborted);
    expect(server.secrets.size).toBe(1);
  });

  it('waits for variables that are stored late', async () => {
    const { runtime, server, spec } = await open();
    const act = { status: 503, message: 'unavailable' };
    server.faults.push({ matches: ({ path }) => path.endsWith('/secrets'), times: 3, act });
    const environment = async () => ({ SECRET: 'value' });
    await runtime.start(spec('a', { environment }), neverAborted);
    expect(podOf({ server }, 'a').status.phase).toBe('Running');
  });

  it('refuses variables that are too large for a Secret', async () => {
    const { runtime, server, spec } = await open();
    const environment = async () => ({ SECRET: 'x'.repeat(1024 * 1024) });
    const failed = runtime.start(spec('a', { environment }), neverAborted);
    await expect(failed).rejects.toMatchObject({ kind: 'bot', message: expect.stringContaining('can have 1048576') });
    expect(server.requests.some(isCreation)).toBe(false);
  });

  it('has the variables in a Secret that goes with the pod, and in no other object', async () => {
    const { runtime, server, spec } = await open();
    await runtime.start(spec('a', { environment: async () => ({ KEY: 'hidden-value' }) }), neverAborted);
    expect(JSON.stringify([...server.pods.values()])).not.toContain('hidden-value');
    expect(server.secrets.size).toBe(1);
    await runtime.stop('a', 1_000);
    await runtime.forget('a');
    await expect.poll(() => [server.pods.size, server.secrets.size]).toEqual([0, 0]);
  });
});

describe('a pod template', () => {
  it('adds to all pods, and does not replace what the driver needs', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'bothost-template-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const podTemplate = join(directory, 'pod.yaml');
    const text = `
metadata: {labels: {team: voice, bothost.dev/host: other}, annotations: {note: kept}}
spec: {restartPolicy: Always, tolerations: [{operator: Exists}], securityContext: {runAsNonRoot: true}}
container: {image: other, env: [{name: EXTRA, value: yes}], envFrom: [{secretRef: {name: shared}}], imagePullPolicy: Never}
`;
    await writeFile(podTemplate, text);
    const { runtime, server, spec } = await open({}, { podTemplate, capabilities: ['SETUID'] });
    server.secrets.set('shared', { metadata: { name: 'shared' }, data: {} });
    await runtime.start(spec('a'), neverAborted);
    const { metadata, spec: body } = podOf({ server }, 'a');
    expect(metadata.labels).toMatchObject({ team: 'voice', 'sidecar.istio.io/inject': 'false' });
    expect(metadata.labels).not.toMatchObject({ 'bothost.dev/host': 'other' });
    expect(metadata.annotations).toEqual({
      note: 'kept',
      'linkerd.io/inject': 'disabled',
      'cluster-autoscaler.kubernetes.io/safe-to-evict': 'true',
    });
    expect(body).toMatchObject({
      restartPolicy: 'Never',
      tolerations: [{ operator: 'Exists' }],
      securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    });
    expect(body.containers).toHaveLength(1);
    expect(body.containers[0]).toMatchObject({
      image: reference,
      imagePullPolicy: 'Always',
      securityContext: { capabilities: { drop: ['ALL'], add: ['SETUID'] } },
    });
    expect(body.containers[0]?.env.map(({ name }) => name)).toEqual(['EXTRA', 'PORT', 'BOT_HOST', 'BOTHOST_INSTANCE']);
  });
});

describe('the image of a pod', () => {
  it('is pulled with the credentials of the deployment, and pinned to its digest once it ran', async () => {
    const account = { username: 'acme', password: 'hidden-password' };
    const { runtime, server, node, spec, dataDirectory } = await open({ credentials: account, digest });
    const credentials = async () => ({ registry: 'registry.test', ...account });
    const { prepared } = await runtime.start(spec('a', { credentials }), neverAborted);
    expect(podOf({ server }, 'a').spec.containers[0]).toMatchObject({ image: reference, imagePullPolicy: 'Always' });
    const image = `registry.test/team/bot@${digest}`;
    expect(prepared).toEqual({ id: 'd1', reference, image, digest });
    node.images.set(image, node.images.get(reference) ?? { directory: dataDirectory });
    const second = await runtime.start(spec('b', { credentials, prepared: prepared ?? {} }), neverAborted);
    expect(second.prepared).toBeUndefined();
    expect(podOf({ server }, 'b').spec.containers[0]).toMatchObject({ image, imagePullPolicy: 'IfNotPresent' });
    expect(JSON.stringify([...server.pods.values()])).not.toContain(account.password);
    for (const id of ['a', 'b']) {
      await runtime.stop(id, 1_000);
      await runtime.forget(id);
    }
    await expect.poll(() => [server.pods.size, server.secrets.size]).toEqual([0, 0]);
  });

  it('fails the start with a code, and leaves nothing, if it does not exist or is private', async () => {
    const { runtime, server, node, spec } = await open();
    const start = () => runtime.start(spec('a'), neverAborted);
    node.images.set(reference, { directory: '/', credentials: { username: 'acme', password: 'p' } });
    await expect(start()).rejects.toMatchObject({ kind: 'image', imageCode: 'PCC_IMAGE_PULL_UNAUTHORIZED' });
    node.images.delete(reference);
    await expect(start()).rejects.toMatchObject({ kind: 'image', imageCode: 'PCC_IMAGE_NOT_FOUND' });
    expect([server.pods.size, server.secrets.size]).toEqual([0, 0]);
  });

  it('fails the start with a code, and leaves nothing, if its registry refuses the credentials of the deployment', async () => {
    let offset = 0;
    const { runtime, server, spec, events } = await open(
      { credentials: { username: 'acme', password: 'p' } },
      { now: () => new Date(Date.now() + offset) },
    );
    const credentials = async () => ({ registry: 'registry.test', username: 'acme', password: 'wrong' });
    const failed = runtime.start(spec('a', { credentials }), neverAborted);
    await expect.poll(() => details(events)).toMatchObject([expect.stringContaining('could not be pulled')]);
    // The kubelet pulls without a pull secret that it cannot read yet.
    offset = 30_000;
    await expect(failed).rejects.toMatchObject({ kind: 'image', imageCode: 'PCC_IMAGE_PULL_UNAUTHORIZED' });
    expect([server.pods.size, server.secrets.size]).toEqual([0, 0]);
  });
});

describe('an instance in a cluster', () => {
  it.each([
    ['is lost', 'lost-response'],
    ['does not come', 'no-response'],
    ['has status 429', { status: 429, message: 'too many requests', retryAfter: 1 }],
    ['has status 500', { status: 500, message: 'etcd has no leader' }],
    ['has status 503', { status: 503, message: 'shutting down' }],
  ] as const)(
    'has one pod, and leaves nothing, although the first response to each write %s',
    { timeout: 20_000 },
    async (_, act) => {
      const { runtime, server, spec } = await open();
      const failed = new Set<string>();
      const isFirstWrite = ({ method, path }: { method: string; path: string }) =>
        method !== 'GET' && failed.size < failed.add(`${method} ${path.split('/')[5]}`).size;
      server.faults.push({ matches: isFirstWrite, times: Number.POSITIVE_INFINITY, act });
      const created = new Set<string>();
      server.events.on('created', ({ metadata }) => void created.add(metadata.uid));
      const credentials = async () => ({ registry: 'registry.test', username: 'acme', password: 'hidden-password' });
      await runtime.start(spec('a', { credentials }), neverAborted);
      runtime.sessionOpening('a');
      const findLabels = () => podOf({ server }, 'a').metadata.labels;
      await expect.poll(findLabels, { timeout: markedMs }).toHaveProperty(['bothost.dev/claimed']);
      await runtime.stop('a', 1_000);
      await runtime.forget('a');
      expect([...failed].sort()).toEqual(['DELETE pods', 'DELETE secrets', 'PATCH pods', 'POST pods', 'POST secrets']);
      await expect.poll(() => [created.size, server.pods.size, server.secrets.size]).toEqual([1, 0, 0]);
    },
  );

  it('is leaving when somebody deletes its pod, until the bot has ended', async () => {
    const { runtime, server, spec, events } = await open();
    const { address } = await runtime.start(spec('a'), neverAborted);
    const pod = podOf({ server }, 'a');
    pod.metadata.deletionTimestamp = '2026-01-01T00:00:00Z';
    server.update(pod);
    await expect.poll(() => runtime.list()).toMatchObject([{ instanceId: 'a', state: 'leaving', address }]);
    server.events.emit('deleting', pod, 1);
    await expect.poll(() => events.map(({ kind }) => kind)).toEqual(['leaving', 'stopped', 'exited']);
    expect(await runtime.list()).toMatchObject([{ instanceId: 'a', state: 'exited' }]);
    expect(events.at(-1)).toMatchObject({ exit: { reason: 'exited', code: 0 } });
  });

  it('is leaving while its node does not respond, and ready again afterwards', async () => {
    const { runtime, server, spec, events } = await open();
    await runtime.start(spec('a'), neverAborted);
    const pod = podOf({ server }, 'a');
    const setReady = (status: 'True' | 'False') => {
      pod.status.conditions = [
        { type: 'PodScheduled', status: 'True' },
        { type: 'Ready', status },
      ];
      server.update(pod);
    };
    setReady('False');
    await expect.poll(() => runtime.list()).toMatchObject([{ instanceId: 'a', state: 'leaving' }]);
    setReady('True');
    await expect.poll(() => runtime.list()).toMatchObject([{ instanceId: 'a', state: 'ready' }]);
    expect(events).toMatchObject([{ kind: 'leaving', detail: 'The node of the pod does not respond.' }]);
  });

  it.each([
    [
      'was evicted',
      { reason: 'Evicted', message: 'The node was low on resource: memory.' },
      'Evicted: The node was low',
    ],
    [
      'was on a node that was removed',
      {
        conditions: [
          { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByPodGC', message: 'node not found' },
        ],
      },
      'node not found.',
    ],
  ])(
    'reports that the platform ended it if its pod %s and lacks the status of its container',
    async (_, status, cause) => {
      const { runtime, server, spec, events } = await open();
      await runtime.start(spec('a'), neverAborted);
      const pod = podOf({ server }, 'a');
      delete pod.status.containerStatuses;
      Object.assign(pod.status, { phase: 'Failed', ...status });
      server.update(pod);
      const exit = { reason: 'platform', code: null, signal: null, platformCause: expect.stringContaining(cause) };
      await expect.poll(() => events.at(-1)).toMatchObject({ kind: 'exited', exit });
      expect(await runtime.list()).toMatchObject([{ state: 'exited' }]);
    },
  );

  it('has an unknown exit if its pod vanishes without a last state', async () => {
    const { runtime, server, spec, events } = await open();
    await runtime.start(spec('a'), neverAborted);
    server.remove(podOf({ server }, 'a'));
    const exited = { kind: 'exited', exit: { reason: 'unknown', code: null } };
    await expect.poll(() => events).toMatchObject([{ kind: 'stopped' }, exited]);
    await runtime.forget('a');
    expect(await runtime.list()).toEqual([]);
  });

  it('has no address once its bot has ended, even while its output is still read', { timeout: 15_000 }, async () => {
    const { runtime, server, node, spec, events } = await open();
    await runtime.start(spec('a'), neverAborted);
    expect(runtime.isAddressCurrent('a')).toBe(true);
    const isLog = ({ path }: { path: string }) => path.endsWith('/log');
    server.faults.push({ matches: isLog, times: Number.POSITIVE_INFINITY, act: 'hang' });
    node.kill('a', 'SIGKILL');
    await expect.poll(() => events).toMatchObject([{ kind: 'stopped', instanceId: 'a' }]);
    expect(await runtime.list()).toMatchObject([{ instanceId: 'a', state: 'exited', address: null }]);
    expect(runtime.isAddressCurrent('a')).toBe(false);
    await expect.poll(() => events.at(-1), { timeout: 12_000 }).toMatchObject({ kind: 'exited' });
  });

  it('reports why the platform ended it if its pod is deleted while its node does not respond', async () => {
    const { runtime, server, spec, events } = await open();
    await runtime.start(spec('a'), neverAborted);
    const pod = podOf({ server }, 'a');
    pod.status.conditions = [{ type: 'DisruptionTarget', status: 'True', message: 'Taint manager: deleting' }];
    server.update(pod);
    server.remove(pod);
    const exit = { reason: 'platform', code: null, platformCause: 'Taint manager: deleting.' };
    await expect.poll(() => events.at(-1)).toMatchObject({ kind: 'exited', exit });
  });

  it.each([
    ['lacks its pod', false],
    ['has an earlier state of its pod', true],
  ])('does not end because a list %s, and has ended when its pod does not exist', async (_, isListed) => {
    const { runtime, server, spec, events, restart } = await open();
    const earlier: FakePod[] = [];
    if (isListed) server.events.on('created', (pod) => void earlier.push(structuredClone(pod)));
    await runtime.start(spec('a'), neverAborted);
    server.staleList = earlier;
    server.expireHistory();
    server.dropWatches();
    const countLists = () => server.requests.filter(({ query }) => query.has('limit')).length;
    await expect.poll(countLists).toBe(2);
    expect(await runtime.inspect('a')).toMatchObject({ state: 'ready' });
    expect(await runtime.list()).toMatchObject([{ state: 'ready' }]);
    expect(events).toEqual([]);
    server.staleList = null;
    const pod = podOf({ server }, 'a');
    const next = await restart();
    server.remove(pod);
    await expect.poll(() => next.list()).toMatchObject([{ instanceId: 'a', state: 'exited' }]);
  });

  it('is reported as ended by the next server if its pod was deleted while no server ran', async () => {
    const { runtime, server, spec, restart, events } = await open();
    await runtime.start(spec('a'), neverAborted);
    await runtime.close();
    server.remove(podOf({ server }, 'a'));
    const next = await restart();
    await expect.poll(() => next.list()).toMatchObject([{ instanceId: 'a', state: 'exited' }]);
    await expect.poll(() => events.at(-1)).toMatchObject({ kind: 'exited', exit: { reason: 'unknown' } });
  });

  it('has ended once the API server responds again if its pod was deleted while no server ran', async () => {
    const { runtime, server, spec, restart } = await open();
    await runtime.start(spec('a'), neverAborted);
    await runtime.close();
    server.remove(podOf({ server }, 'a'));
    const isRead = ({ method, path }: { method: string; path: string }) => method === 'GET' && path.endsWith('/pods/a');
    const refused = { matches: isRead, times: 2, act: { status: 403, message: 'pods "a" is forbidden' } };
    server.faults.push(refused);
    const next = await restart();
    await expect.poll(() => next.list(), { timeout: 10_000 }).toMatchObject([{ instanceId: 'a', state: 'exited' }]);
    expect(refused.times).toBe(0);
  });

  it('is asked for its output less and less often if the output cannot be followed', { timeout: 20_000 }, async () => {
    const { runtime, server, spec } = await open();
    const isLog = ({ path }: { path: string }) => path.endsWith('/log');
    const act = { status: 502, message: 'dial tcp 10.0.0.1:10250: i/o timeout' };
    server.faults.push({ matches: isLog, times: 4, act });
    const begunAt = performance.now();
    await runtime.start(spec('a'), neverAborted);
    const countLogs = () => server.requests.filter(isLog).length;
    await expect.poll(countLogs, { timeout: 15_000 }).toBe(4);
    // The pauses are at least 0.5, 1 and 2 seconds.
    expect(performance.now() - begunAt).toBeGreaterThan(3_500);
  });

  it('is marked as claimed when its session opens', async () => {
    const { runtime, server, spec } = await open();
    await runtime.start(spec('a'), neverAborted);
    runtime.sessionOpening('a');
    await expect
      .poll(() => podOf({ server }, 'a').metadata, { timeout: markedMs })
      .toMatchObject({
        labels: { 'bothost.dev/claimed': 'true', 'bothost.dev/deployment': 'd1' },
        annotations: {
          'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
          'karpenter.sh/do-not-disrupt': 'true',
        },
      });
  });

  it('is marked as claimed after the pod of an earlier session', async () => {
    const { runtime, server, spec } = await open();
    for (const id of ['a', 'b']) await runtime.start(spec(id), neverAborted);
    const isMark = ({ method }: { method: string }) => method === 'PATCH';
    server.faults.push({ matches: isMark, times: 1, act: 'hang' });
    for (const id of ['a', 'b']) runtime.sessionOpening(id);
    await expect.poll(() => server.requests.filter(isMark), { timeout: markedMs }).toHaveLength(1);
    await runtime.inspect('b');
    expect(server.requests.filter(isMark)).toMatchObject([{ path: expect.stringMatching(/\/a$/) }]);
  });

  it('is marked as claimed at once when the server closes', async () => {
    const { runtime, server, spec } = await open();
    await runtime.start(spec('a'), neverAborted);
    runtime.sessionOpening('a');
    await runtime.close();
    expect(podOf({ server }, 'a').metadata.labels).toHaveProperty(['bothost.dev/claimed']);
  });

  it('is marked as claimed by the next server process if the one before could not mark it', async () => {
    const { runtime, server, spec, restart } = await open();
    await runtime.start(spec('a'), neverAborted);
    const isMark = ({ method }: { method: string }) => method === 'PATCH';
    server.faults.push({ matches: isMark, times: 1, act: { status: 403, message: 'forbidden' } });
    runtime.sessionOpening('a');
    await restart();
    expect(podOf({ server }, 'a').metadata.labels).not.toHaveProperty(['bothost.dev/claimed']);
    const findLabels = () => podOf({ server }, 'a').metadata.labels;
    await expect.poll(findLabels, { timeout: markedMs }).toHaveProperty(['bothost.dev/claimed']);
  });

  it('is not marked if its session has ended before', async () => {
    const { runtime, server, spec } = await open();
    await runtime.start(spec('a'), neverAborted);
    runtime.sessionOpening('a');
    await runtime.stop('a', 1_000);
    await runtime.close();
    expect(server.requests.map(({ method }) => method)).not.toContain('PATCH');
  });

  it('costs four writes from its start to its end', async () => {
    const { runtime, server, spec } = await open();
    await runtime.start(spec('a'), neverAborted);
    runtime.sessionOpening('a');
    const findLabels = () => podOf({ server }, 'a').metadata.labels;
    await expect.poll(findLabels, { timeout: markedMs }).toHaveProperty(['bothost.dev/claimed']);
    await runtime.stop('a', 1_000);
    await runtime.forget('a');
    await expect.poll(() => server.pods.size).toBe(0);
    const writes = server.requests.filter(({ method }) => method !== 'GET');
    expect(writes.map(({ method, path }) => `${method} ${path.split('/')[5]}`)).toEqual([
      'POST pods',
      'POST secrets',
      'PATCH pods',
      'DELETE pods',
    ]);
    expect(server.requests.filter(({ query }) => query.has('limit'))).toHaveLength(1);
  });

  it('has no usage if the service lacks the right to read it', async () => {
    const { runtime, server, spec } = await open();
    await runtime.start(spec('a'), neverAborted);
    const act = { status: 403, message: 'Forbidden (user=bothost, verb=get, resource=nodes, subresource=metrics)' };
    server.faults.push({ matches: ({ path }) => path === '/metrics/resource', times: 1, act });
    expect(await runtime.sample(['a'])).toEqual(new Map());
  });
});

describe('a runtime driver whose API server does not respond', () => {
  it('keeps its instances, rejects `list` once its knowledge is old, and finds what happened meanwhile', async () => {
    let offset = 0;
    const { runtime, server, node, spec, events } = await open({}, { now: () => new Date(Date.now() + offset) });
    await runtime.start(spec('a'), neverAborted);
    const away = { matches: () => true, times: Number.POSITIVE_INFINITY, act: 'no-response' as const };
    server.faults.push(away);
    server.dropWatches();
    expect(await runtime.list()).toMatchObject([{ state: 'ready' }]);
    expect(runtime.isAddressCurrent('a')).toBe(true);
    await expect(runtime.inspect('a')).rejects.toThrow(/does not respond|no complete response/);
    node.kill('a', 'SIGKILL');
    await expect.poll(() => podOf({ server }, 'a').status.phase).toBe('Failed');
    offset = 90_000;
    await expect(runtime.list()).rejects.toThrow('The API server of the cluster does not respond.');
    expect(runtime.isAddressCurrent('a')).toBe(false);
    away.times = 0;
    await expect.poll(() => events.at(-1)).toMatchObject({ kind: 'exited', exit: { signal: 'SIGKILL' } });
  });

  it('refuses to open, and says what to check', async () => {
    const { server, kubeconfig, dataDirectory } = await open();
    server.token = 'another';
    const opened = openKubernetesRuntime(dataDirectory, { kubeconfig });
    await expect(opened).rejects.toMatchObject({
      name: 'RuntimeUnavailableError',
      message: 'The cluster refused the service: Unauthorized. Check its credentials.',
    });
  });
});

describe('two services in one namespace', () => {
  it('do not see the pods of each other, and refuse a name that the other one uses', async () => {
    const { runtime, spec, kubeconfig, dataDirectory } = await open();
    await runtime.start(spec('a'), neverAborted);
    const other = await openKubernetesRuntime(`${dataDirectory}-other`, { kubeconfig, allowsLocalImages: false });
    onTestFinished(async () => {
      await other.close();
      await rm(`${dataDirectory}-other`, { recursive: true });
    });
    expect(getTestHostId(dataDirectory)).not.toBe(getTestHostId(`${dataDirectory}-other`));
    expect(await other.list()).toEqual([]);
    await expect(other.start(spec('a'), neverAborted)).rejects.toMatchObject({
      message: 'The name "a" belongs to a pod that this service did not create. Delete the pod.',
    });
    expect(await runtime.list()).toMatchObject([{ instanceId: 'a', state: 'ready' }]);
  });
});
