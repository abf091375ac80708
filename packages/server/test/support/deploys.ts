import { createHash } from 'node:crypto';
import type { AgentDetails, ApiClient, Build } from '@bothost/contract';
import { expect, vi } from 'vitest';
import { createArchive } from './archive.ts';
import type { TestServer } from './test-server.ts';

type Files = Readonly<Record<string, string>>;

const region = 'us-west';

/**
 * A project whose bot returns its version at `/version` and ends its session with the status that `/end` receives. `first` is
 * JavaScript that runs before the bot.
 */
export function createVersionedBot(version: string, first = ''): Files {
  return {
    'package.json': JSON.stringify({ name: 'versioned', main: 'main.js' }),
    'main.js': `${first}
const http = require('node:http');
let held = null;
http.createServer((request, response) => {
  const url = new URL(request.url, 'http://bot');
  if (url.pathname === '/readyz') return response.end();
  if (url.pathname === '/bot') { held = response; return; }
  if (url.pathname === '/version') return response.end(${JSON.stringify(version)});
  if (url.pathname === '/end') { held.statusCode = Number(url.searchParams.get('status')); held.end('{}'); return response.end(); }
  response.statusCode = 404;
  response.end();
}).listen(Number(process.env.PORT), process.env.BOT_HOST);
`,
  };
}

export async function uploadAndBuildProject({ client }: { readonly client: ApiClient }, files: Files): Promise<Build> {
  const bytes = createArchive(...Object.entries(files).map(([path, body]) => ({ path, body })));
  const contentHash = createHash('sha256').update(bytes).digest('hex');
  const upload = await client.getBuildUploadUrl({ body: { region, contentHash, sizeBytes: bytes.length } });
  const { receivedBytes, uploadFields, uploadUrl, uploadId } = upload;
  if (receivedBytes < bytes.length) {
    const answer = await fetch(uploadUrl, {
      method: 'PATCH',
      headers: { 'upload-token': uploadFields.token, 'upload-offset': String(receivedBytes) },
      body: new Uint8Array(bytes.subarray(receivedBytes)),
    });
    expect(answer.ok).toBe(true);
  }
  const { build } = await client.createBuild({ body: { uploadId, region } });
  for (let nextToken: string | undefined = '0'; nextToken !== undefined; ) {
    ({ nextToken } = await client.getBuildLogs({ params: { buildId: build.id }, query: { nextToken, wait: 20 } }));
  }
  return (await client.getBuild({ params: { buildId: build.id } })).build;
}

/** Waits until the desired deployment of an agent is active or has failed. Returns the agent. */
export async function waitForSettledDeployment(
  { client }: Pick<TestServer, 'client'>,
  agentName: string,
  timeoutMs = 40_000,
): Promise<AgentDetails> {
  const show = () => client.getAgent({ params: { agentName } });
  const isSettled = async () => {
    const { desiredDeploymentId, reconciledDeploymentId } = await show();
    return desiredDeploymentId === reconciledDeploymentId;
  };
  await vi.waitUntil(isSettled, { timeout: timeoutMs, interval: 20 });
  return show();
}
