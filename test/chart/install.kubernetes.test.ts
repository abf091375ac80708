import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { buildImage, buildNodeImage, noEngine, runDocker } from '../../packages/runtime/test/docker/engine.ts';
import { readChartRules } from '../../packages/runtime/test/kubernetes/chart-rules.ts';
import { noCluster, publishToCluster } from '../../packages/runtime/test/kubernetes/cluster.ts';
import { describeUnless } from '../../packages/runtime/test/skip-with-reason.ts';
import {
  createBearerTokenHeaders,
  sessionUrl,
  startAgentSession,
  stopAgentSession,
  waitForSessionEnd,
} from '../../packages/server/test/support/client.ts';
import { createVersionedBot } from '../../packages/server/test/support/deploys.ts';
import { installHelmTimeoutMs, noHelm } from './helm.ts';
import { createInstallation, type Installation, type InstalledService } from './installation.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Milliseconds to build Helm, and the images without a cache. */
const setUpMs = installHelmTimeoutMs + 15 * 60_000;
/** Milliseconds for a test that stops and starts the service. */
const longMs = 240_000;
/** What an uninstalled chart leaves in its namespace, with the objects of every namespace. */
const kept = [
  'configmap/kube-root-ca.crt',
  'persistentvolumeclaim/bothost-data',
  'secret/bothost-keys',
  'serviceaccount/default',
];

/** Makes a bot finish its session before it exits. */
const patience = `process.on('SIGTERM', () => setInterval(() => {
  if (held === null || held.writableEnded) process.exit();
}, 50));`;

describeUnless(noCluster ?? noEngine ?? noHelm, 'the chart in a cluster', () => {
  let installation: Installation;
  let service: InstalledService;
  let images: { readonly parrot: string; readonly patient: string };

  beforeAll(async () => {
    installation = await createInstallation();
    const [parrot, patient] = ['bothost-test-parrot:1', 'bothost-test-patient:1'];
    await buildImage(parrot, join(root, 'examples/parrot'));
    const { 'main.js': main = '' } = createVersionedBot('one', patience);
    await runDocker('tag', await buildNodeImage({ 'index.js': main }, join(installation.data, '../patient')), patient);
    images = { parrot: await publishToCluster(parrot), patient: await publishToCluster(patient) };
    await install();
  }, setUpMs);
  afterAll(() => installation?.remove());
  // A failed attempt leaves its session.
  beforeEach(() => kubectl('delete', 'pods', '-l', 'bothost.dev/claimed=true', '--grace-period=1'));

  const kubectl = (...words: readonly string[]) => installation.namespace.kubectl(...words);

  async function install(): Promise<void> {
    const [commands = ''] = await installation.readCommands('Install');
    await installation.run(commands);
    service = await installation.findService();
    const isReady = async () => (await fetch(`${service.url}/readyz`).catch(() => null))?.ok ?? false;
    await vi.waitUntil(isReady, { timeout: 60_000, interval: 250 });
  }

  const deploy = (agent: 'parrot' | 'patient', minAgents: number) =>
    installation.botcli(service, 'cloud', 'deploy', agent, images[agent], '--force', '--min-agents', String(minAgents));

  /** Starts a session, and returns its id when its bot has answered. */
  async function startSession(agent: 'parrot' | 'patient'): Promise<string> {
    const start = () => startAgentSession(service, agent);
    const sessionId = await vi.waitFor(start, { timeout: 60_000, interval: 250 });
    await expect.poll(() => askBot(agent, sessionId)).toContain(agent === 'parrot' ? sessionId : 'one');
    return sessionId;
  }

  async function askBot(agent: 'parrot' | 'patient', sessionId: string): Promise<string> {
    const url = sessionUrl(service, agent, sessionId, agent === 'parrot' ? '/hello' : '/version');
    return (await fetch(url, createBearerTokenHeaders(service.publicKey))).text();
  }

  const listPods = async (...filter: readonly string[]) =>
    (await kubectl('get', 'pods', '-o', 'name', ...filter)).split('\n').filter((name) => name !== '');

  /** Returns the pods with a session, which get a label after the session's start. */
  async function findClaimedPod(): Promise<string> {
    const list = () => listPods('-l', 'bothost.dev/claimed=true');
    await expect.poll(list).toHaveLength(1);
    return (await list())[0] ?? '';
  }

  it('runs a session of an image that botcli deploys, with the commands of docs/kubernetes.md', async () => {
    const [, inPod = ''] = await installation.readCommands('Install');
    expect(await deploy('parrot', 1)).toContain('Active');
    const printed = await installation.run(inPod);
    expect(printed).toContain('parrot');
    expect(printed).toContain('https://bots.example.com/');
    const sessionId = await startSession('parrot');
    await stopAgentSession(service, 'parrot', sessionId);
    expect(await waitForSessionEnd(service, 'parrot', sessionId)).toMatchObject({
      completionStatus: 'SESSION_STOPPED',
      readsUsage: false,
    });
  });

  it('gives the service exactly the rights in the rules of the chart', async () => {
    const file = join(installation.data, '../review.json');
    const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectRulesReview' };
    await writeFile(file, JSON.stringify({ ...review, spec: { namespace: installation.namespace.name } }));
    const account = `system:serviceaccount:${installation.namespace.name}:bothost`;
    // Without validation, for which the account could not read the schema.
    const words = ['--as', account, '--validate=false', '-o', 'json', '-f', file];
    const { status } = JSON.parse(await kubectl('create', ...words)) as {
      status: { resourceRules: { apiGroups: string[]; resources: string[]; verbs: string[] }[] };
    };
    const list = (rules: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[]) =>
      rules.flatMap(({ resources, verbs }) => resources.flatMap((one) => verbs.map((verb) => `${verb} ${one}`))).sort();
    // Every account may ask for its own rights.
    const own = status.resourceRules.filter(({ apiGroups }) => !/^auth\w+\.k8s\.io$/.test(apiGroups.join()));
    const granted = (await readChartRules()).filter(({ resources }) => !resources.includes('nodes/metrics'));
    expect(list(own)).toEqual(list(granted));
  });

  it('lets a drain of the node wait for a live session, and replaces pods without a session', async () => {
    await deploy('parrot', 1);
    const sessionId = await startSession('parrot');
    const claimed = await findClaimedPod();
    await expect.poll(() => listPods('-l', 'bothost.dev/host')).toHaveLength(2);
    const warm = (await listPods('-l', 'bothost.dev/host')).find((pod) => pod !== claimed);
    const [drain = ''] = await installation.readCommands('Nodes that leave');
    // Only the bots, as if the service ran on another node.
    const host = await kubectl('get', claimed, '-o', 'jsonpath={.metadata.labels.bothost\\.dev/host}');
    const command = `${drain.trim().replace('NODE', 'local')} --pod-selector bothost.dev/host=${host} --timeout 90s`;
    let [output, result] = ['', 'draining'];
    const onError = (text: string) => {
      output += text;
    };
    const drained = installation
      .run(command, onError)
      .then(() => 'drained', String)
      .then((last) => {
        result = last;
      });
    try {
      await expect.poll(() => output).toContain('disruption budget');
      await expect.poll(() => listPods()).not.toContain(warm);
      expect(await askBot('parrot', sessionId)).toContain(sessionId);
      expect(result).toBe('draining');
      await stopAgentSession(service, 'parrot', sessionId);
      await drained;
      expect(result).toBe('drained');
    } finally {
      await kubectl('uncordon', 'local');
      await drained;
    }
    expect(await waitForSessionEnd(service, 'parrot', sessionId)).toMatchObject({
      completionStatus: 'SESSION_STOPPED',
    });
    const isReady = async () => (await service.client.getAgent({ params: { agentName: 'parrot' } })).ready;
    await expect.poll(isReady).toBe(true);
  });

  it('is uninstalled during a session, which ends in its own time, and keeps only keys and data', {
    timeout: longMs,
  }, async () => {
    await install();
    await deploy('patient', 0);
    const sessionId = await startSession('patient');
    const pod = await findClaimedPod();
    const bot = `http://${await kubectl('get', pod, '-o', 'jsonpath={.status.podIP}')}:8080`;
    const [uninstall = ''] = await installation.readCommands('Uninstall');
    await installation.run(uninstall);
    await expect.poll(() => listPods()).toEqual([pod]);
    expect(await (await fetch(`${bot}/version`)).text()).toBe('one');
    await fetch(`${bot}/end?status=200`);
    const kinds = 'all,configmaps,networkpolicies,pvc,pdb,roles,rolebindings,secrets,serviceaccounts';
    const list = async () => (await kubectl('get', kinds, '-o', 'name')).split('\n').sort();
    await expect.poll(list).toEqual(kept);

    const before = service;
    await install();
    expect([service.privateKey, service.publicKey]).toEqual([before.privateKey, before.publicKey]);
    expect(await waitForSessionEnd(service, 'patient', sessionId)).toMatchObject({ completionStatus: 'HTTP_ERROR' });
  });

  it('is upgraded during a session, with the same keys and data, and then reads the usage of bots', {
    timeout: longMs,
  }, async () => {
    await deploy('parrot', 1);
    const readKeys = () => kubectl('get', 'secret/bothost-keys', '-o', 'jsonpath={.data}');
    const keys = await readKeys();
    const sessionId = await startSession('parrot');
    const [commands = ''] = await installation.readCommands('Upgrades');
    const [, image = ''] = /image=(\S+)/.exec(commands) ?? [];
    await runDocker('tag', image.replace('0.1.1', '0.1.0'), image);
    await runDocker('push', '-q', image);
    await installation.run(`${commands.trim()} --set bots.usage=true`);
    await kubectl('rollout', 'status', 'deploy/bothost', '--timeout', '90s');
    expect(await kubectl('get', 'pods', '-l', 'app.kubernetes.io/name=bothost', '-o', 'yaml')).toContain(image);
    await expect.poll(() => askBot('parrot', sessionId)).toContain(sessionId);
    expect(await readKeys()).toBe(keys);
    const readSession = () => service.client.getSession({ params: { agentName: 'parrot', sessionId } });
    await expect
      .poll(readSession)
      .toMatchObject({ readsUsage: true, resourceMetrics: { sampleCount: expect.any(Number) } });
    await stopAgentSession(service, 'parrot', sessionId);
    expect(await waitForSessionEnd(service, 'parrot', sessionId)).toMatchObject({
      completionStatus: 'SESSION_STOPPED',
    });
    const log = await readFile(join(installation.data, 'data/postgres/postgres.log'), 'utf8');
    expect(log).toContain('database system is shut down');
    expect(log).not.toMatch(/interrupted|not properly shut down/);
  });
});
