import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { InstanceEvent } from '../../src/runtime.ts';
import { createTestInstanceSpec } from '../instance-spec.ts';
import { readChartRules } from './chart-rules.ts';
import type { FakeRequest } from './fake-api-server.ts';
import { startFakeCluster } from './fake-cluster.ts';
import { openKubernetesRuntime } from './setup.ts';

const reference = 'registry.test/team/bot:1';
const account = { username: 'team', password: 'hidden-password' };
const bot = `
require('node:http').createServer((request, response) => response.end('{}')).listen(process.env.PORT, process.env.BOT_HOST);
console.log('hello');
`;

it('the driver uses exactly the rights that the chart grants', async () => {
  const granted = (await readChartRules()).flatMap(({ resources, verbs }) =>
    resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
  );
  const requests = await recordRequestsOfInstance();
  expect([...new Set(requests.flatMap(getRight))].sort()).toEqual(granted.sort());
});

/** Runs an instance of a private image from its start to its end, with a session, and returns the requests of the driver. */
async function recordRequestsOfInstance(): Promise<readonly FakeRequest[]> {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-rights-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  await mkdir(join(directory, 'bot'));
  await writeFile(join(directory, 'bot/index.js'), bot);
  const { server, node, kubeconfig, close } = await startFakeCluster();
  onTestFinished(close);
  node.images.set(reference, { directory: join(directory, 'bot'), credentials: account });
  const runtime = await openKubernetesRuntime(join(directory, 'data'), {
    kubeconfig,
    allowsLocalImages: false,
    getKubeletOrigin: () => server.origin,
  });
  const events: InstanceEvent[] = [];
  const watching = new AbortController();
  onTestFinished(async () => {
    watching.abort();
    await runtime.close();
  });
  void (async () => {
    for await (const event of runtime.watch(watching.signal)) events.push(event);
  })();
  const source = { kind: 'image', reference, organizationId: 'acme' } as const;
  const { signal } = watching;
  const prepared = await runtime.prepare({ id: 'd1', source }, () => undefined, signal);
  const credentials = async () => ({ registry: 'registry.test', ...account });
  await runtime.start(createTestInstanceSpec({ instanceId: 'a', deploymentId: 'd1', prepared, credentials }), signal);
  runtime.sessionOpening('a');
  await expect.poll(() => server.requests.map(({ method }) => method), { timeout: 10_000 }).toContain('PATCH');
  await runtime.inspect('a');
  await runtime.sample(['a']);
  await runtime.stop('a', 1_000);
  await expect.poll(() => events.map(({ kind }) => kind)).toContain('exited');
  await runtime.forget('a');
  await expect.poll(() => [server.pods.size, server.secrets.size]).toEqual([0, 0]);
  return server.requests;
}

/** The right that a request needs, such as `create pods`. None for what every account may do. */
function getRight({ method, path, query }: FakeRequest): readonly string[] {
  if (path === '/version') return [];
  if (path === '/metrics/resource') return ['get nodes/metrics'];
  const [resource, name, sub] = path.split('/').slice(5);
  const verbs: Readonly<Record<string, string>> = { POST: 'create', PATCH: 'patch', DELETE: 'delete', GET: 'get' };
  const verb = method !== 'GET' || name !== undefined ? verbs[method] : query.has('watch') ? 'watch' : 'list';
  return [`${verb} ${[resource, sub].filter((word) => word !== undefined).join('/')}`];
}
