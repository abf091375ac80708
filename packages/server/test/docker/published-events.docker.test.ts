import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildImage, noEngine } from '../../../runtime/test/docker/engine.ts';
import { describeUnless } from '../../../runtime/test/skip-with-reason.ts';
import { writeBot } from '../support/bots.ts';
import { evaluateJavaScriptInBot, startAgentSession, waitForSessionEnd } from '../support/client.ts';
import { findFreePort } from '../support/free-port.ts';
import { networkAddress } from '../support/turn-server.ts';
import { type DockerService, startDockerService } from './docker-service.ts';

const agentName = 'cloud-image';
const image = 'bothost-test-cloud-image:1';
const missing = noEngine ?? (networkAddress === undefined ? 'this machine has no network address' : null);

/** Posts of the observers of Pipecat Cloud's base image, whose session started at this Unix time. */
const posts = await readFile(new URL('../conversations/published-events.json', import.meta.url), 'utf8');
const postedStartSeconds = 1_764_000_000;

/** Sends the posts again at the same times since the start as the image did, and returns the statuses of the responses. */
const postAgain = (sessionId: string) => `(async () => {
  const startMs = Date.now();
  const move = (key, value) => (value > ${postedStartSeconds} ? value - ${postedStartSeconds} + startMs / 1000 : value);
  const statuses = new Set();
  for (const [, postedAt, event_name, event_properties] of JSON.parse(${JSON.stringify(posts)}, move)) {
    await new Promise((resolve) => setTimeout(resolve, startMs + postedAt * 1000 - Date.now()));
    const ts = new Date().toISOString().replace('Z', '000+00:00');
    const event = { ts, session_id: '${sessionId}', event_name, event_uuid: crypto.randomUUID(), event_properties };
    const request = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(event) };
    statuses.add((await fetch(process.env.PIPECAT_EVENT_PUBLISHER_ENDPOINT, request)).status);
  }
  return [...statuses];
})()`;

describeUnless(missing, "a container that posts the events of Pipecat Cloud's base image", () => {
  let service: DockerService;

  beforeAll(async () => {
    const bot = await writeBot(agentName);
    const recipe = `ARG BASE\nFROM \${BASE}\nWORKDIR /app\nCOPY . .\nCMD ["node", "main.js"]\n`;
    await writeFile(join(bot.path, 'Dockerfile'), recipe);
    await buildImage(image, bot.path);
    await bot.remove();
    const port = String(await findFreePort());
    service = await startDockerService(
      { host: 'unix:///var/run/docker.sock' },
      {
        BOTHOST_LOCAL_IMAGES: 'true',
        BOTHOST_HOST: networkAddress ?? '',
        BOTHOST_PORT: port,
        BOTHOST_INTERNAL_URL: `http://${networkAddress}:${port}`,
      },
    );
    expect((await service.deploy(agentName, image)).errors).toEqual([]);
  }, 600_000);
  afterAll(() => service?.close());

  it('has the turns, response times, tools, errors and usage of its call, but no text', async () => {
    await service.client.updateAgent({ params: { agentName }, body: { conversation: { level: 'transcript' } } });
    const sessionId = await startAgentSession(service, agentName);
    expect(await evaluateJavaScriptInBot(service, agentName, sessionId, 'process.env.PCC_EXCLUDE_CONTENT')).toBe(
      'true',
    );
    expect(await evaluateJavaScriptInBot(service, agentName, sessionId, postAgain(sessionId))).toEqual([204]);
    await evaluateJavaScriptInBot(service, agentName, sessionId, 'state.end(200, "{}")');
    await waitForSessionEnd(service, agentName, sessionId);
    const read = () => service.client.getSessionConversation({ params: { agentName, sessionId }, query: {} });
    await expect.poll(async () => (await read()).state).toBe('incomplete');
    const { numbers, lines } = await read();
    expect(numbers).toMatchObject({ turns: 2, interruptions: 2, errors: 2, tools: { calls: 1, failed: 1 } });
    // The moved times may be rounded to the millisecond beside.
    expect(numbers?.responses.silence?.ms.map((ms) => Math.round(ms / 10))).toEqual([78, 81]);
    expect(numbers?.usage).toContainEqual(expect.objectContaining({ service: 'OpenAILLMService#0', totalTokens: 54 }));
    expect(lines.map(({ kind }) => kind)).not.toContain('said');
  });
});
