import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type ApiClient, type Build, createApiClient } from '@bothost/contract';
import { expect, it, onTestFinished } from 'vitest';
import { hasEnded, readProcessStat } from '../../../runtime/src/process/proc/process-identity.ts';
import { uploadAndBuildProject } from '../support/deploys.ts';
import { insertSecondOrganization } from '../support/second-organization.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';
import { createUniqueName } from '../support/unique-name.ts';

const SPARSE_OUTPUT = "perl -e 'truncate(STDOUT,16*1024**4-8192)'";

async function startServer(environment: Record<string, string> = {}): Promise<TestServer> {
  const service = await startTestServer({ environment });
  onTestFinished(service.close);
  return service;
}

async function organizationOf(service: TestServer): Promise<ApiClient> {
  const organization = await insertSecondOrganization(service, createUniqueName('organization'));
  onTestFinished(organization.close);
  return createApiClient({ origin: service.url, key: organization.privateKey });
}

/** Builds a project with this build script and waits for the end of the build. */
function build(client: ApiClient, script: string): Promise<Build> {
  const manifest = { main: 'index.js', scripts: { build: script } };
  return uploadAndBuildProject({ client }, { 'package.json': JSON.stringify(manifest), 'index.js': '' });
}

async function logOf(client: ApiClient): Promise<{ readonly id: string; readonly log: string }> {
  const { builds } = await client.listBuilds({ query: {} });
  const id = builds[0]?.id;
  if (id === undefined) return { id: '', log: '' };
  const { logs } = await client.getBuildLogs({ params: { buildId: id } });
  return { id, log: logs.map((line) => line.replace(/^\S+ /, '')).join('\n') };
}

it('builds that write 16 TiB in all build slots end at their timeout, and then another organization can build', async () => {
  const service = await startServer({ BOTHOST_BUILDS_AT_ONCE: '2', BOTHOST_BUILD_TIMEOUT: '15' });
  const hostile = [service.client, await organizationOf(service)];
  const others = await organizationOf(service);
  const endless = hostile.map((client) => build(client, `${SPARSE_OUTPUT}; echo waiting; sleep 1000`));
  for (const client of hostile) await expect.poll(async () => (await logOf(client)).log).toContain('> npm run build');
  expect((await build(others, 'true')).status).toBe('success');
  expect((await Promise.all(endless)).map(({ status }) => status)).toEqual(['timeout', 'timeout']);
});

it('canceling a build kills all of its processes and removes its files', async () => {
  const { client, dataDirectory } = await startServer();
  const ended = build(client, 'setsid sleep 1000 & echo pids $$ $!; sleep 1000');
  const pids = /^pids (\d+) (\d+)$/m;
  await expect.poll(async () => (await logOf(client)).log).toMatch(pids);
  const { id, log } = await logOf(client);
  const processes = (pids.exec(log) ?? []).slice(1).map(Number);
  const isRunning = (pid: number) => {
    const stat = readProcessStat(pid);
    return stat !== null && !hasEnded(stat);
  };
  expect(processes.map(isRunning)).toEqual([true, true]);

  await client.cancelBuild({ params: { buildId: id } });
  expect(await ended).toMatchObject({ id, status: 'canceled', errorCode: 'build-canceled', imageUri: null });
  expect(processes.map(isRunning)).toEqual([false, false]);
  for (const directory of ['projects', 'preparing', 'builds/trees']) {
    expect({ directory, names: await readdir(join(dataDirectory, directory)) }).toEqual({ directory, names: [] });
  }
});
