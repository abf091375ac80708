import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createVersionedBot, uploadAndBuildProject, waitForSettledDeployment } from '../support/deploys.ts';
import { createUniqueName } from '../support/unique-name.ts';
import { useTestServer } from '../support/use-test-server.ts';

const service = await useTestServer({ bots: { echo: {} } });
const { client } = service;

const files = {
  ...createVersionedBot('one'),
  'notes.txt': 'from Zürich\n',
  'sound.wav': 'RIFF\0\0',
  'large.txt': 'a'.repeat(300_000),
  '.env': 'KEY=secret',
};

async function deploy(serviceName: string) {
  const { id: buildId } = await uploadAndBuildProject(service, files);
  await client.createAgent({ body: { serviceName, buildId } });
  const { activeDeploymentId: deploymentId } = await waitForSettledDeployment(service, serviceName);
  return { agentName: serviceName, deploymentId: deploymentId ?? '' };
}

const name = createUniqueName('files');
const params = await deploy(name);

describe('listDeploymentFiles', () => {
  it('lists the files that the build unpacked, each with its hash', async () => {
    const listed = (await client.listDeploymentFiles({ params })).files;
    expect(listed.map(({ path }) => path)).toEqual(['large.txt', 'main.js', 'notes.txt', 'package.json', 'sound.wav']);
    expect(listed[2]).toMatchObject({ sizeBytes: 13, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  });

  it('answers 404 for a directory of the service and for a missing deployment', async () => {
    const { activeDeploymentId } = await waitForSettledDeployment(service, 'echo');
    await expect(
      client.listDeploymentFiles({ params: { agentName: 'echo', deploymentId: activeDeploymentId ?? '' } }),
    ).rejects.toMatchObject({ status: 404, reason: 'deployment-files-unavailable' });
    await expect(client.listDeploymentFiles({ params: { ...params, deploymentId: 'missing' } })).rejects.toMatchObject({
      reason: 'deployment-not-found',
    });
  });
});

describe('getDeploymentFile', () => {
  it.each([
    ['notes.txt', 'from Zürich\n', null],
    ['sound.wav', null, 'binary'],
    ['large.txt', null, 'too-large'],
  ])('returns %s with its text, or the reason why the text is omitted', async (path, text, omitted) => {
    expect(await client.getDeploymentFile({ params, query: { path } })).toEqual({ path, text, omitted });
  });

  it.each(['.env', 'missing.txt', '../../vault/keys'])('answers 404 for %s', async (path) => {
    await expect(client.getDeploymentFile({ params, query: { path } })).rejects.toMatchObject({
      status: 404,
      reason: 'deployment-file-not-found',
    });
  });
});

it('answers that the files are unavailable once the archive was lost', async () => {
  await rm(join(service.dataDirectory, 'builds', 'uploads'), { recursive: true });
  for (const request of [
    client.listDeploymentFiles({ params }),
    client.getDeploymentFile({ params, query: { path: 'main.js' } }),
  ]) {
    await expect(request).rejects.toMatchObject({ status: 404, reason: 'deployment-files-unavailable' });
  }
});
