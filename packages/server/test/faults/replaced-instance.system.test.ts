import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { writeBot } from '../support/bots.ts';
import {
  evaluateJavaScriptInBot,
  startAgentSession,
  stopAgentSession,
  waitForSessionEnd,
  waitUntilAgentIdle,
} from '../support/client.ts';
import { startTestServer } from '../support/test-server.ts';

/** Code of a bot that stops listening, without exiting, once a file exists. */
const shutWhenExists = (file: string) => `
const watching = setInterval(() => {
  if (!require('node:fs').existsSync(${JSON.stringify(file)})) return;
  clearInterval(watching);
  server.close(() => { console.log('shut'); setInterval(() => {}, 1000); });
  server.closeAllConnections();
}, 20);
`;

it('a session whose warm bot refuses the connection gets another instance, and the refusal becomes an event', async (test) => {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-shut-'));
  test.onTestFinished(() => rm(directory, { recursive: true, force: true }));
  await chmod(directory, 0o711);
  const shut = join(directory, 'shut');
  const bot = await writeBot('shuts', { minAgents: 1, websocketAuth: 'none', prelude: shutWhenExists(shut) });
  test.onTestFinished(() => bot.remove());
  const service = await startTestServer({ agents: [bot.path] });
  test.onTestFinished(() => service.close());
  const agent = { params: { agentName: 'shuts' } };
  const shutWarmBot = async (times: number) => {
    const read = () => service.client.getAgent(agent);
    await expect.poll(async () => (await read()).idleInstanceCount, { timeout: 30_000 }).toBe(1);
    await writeFile(shut, '');
    const lines = async () => (await service.client.getLogs({ ...agent, query: { query: 'shut' } })).logs.length;
    await expect.poll(lines, { timeout: 30_000 }).toBe(times);
    await rm(shut);
  };
  const replacements = async (sessionId: string) => {
    const { events } = await service.client.getSession({ params: { agentName: 'shuts', sessionId } });
    return events.filter(({ eventCode }) => eventCode === 'INSTANCE_REPLACED').map(({ detail }) => detail);
  };

  await shutWarmBot(1);
  const id = await startAgentSession(service, 'shuts', { number: 7 });
  expect(await evaluateJavaScriptInBot(service, 'shuts', id, 'state.starts.length + " " + state.starts[0].body')).toBe(
    '1 {"number":7}',
  );
  expect(await replacements(id)).toEqual([{ cause: expect.stringMatching(/^The bot could not be reached: connect /) }]);
  await stopAgentSession(service, 'shuts', id);
  expect((await waitForSessionEnd(service, 'shuts', id)).completionStatus).toBe('SESSION_STOPPED');
  await waitUntilAgentIdle(service, 'shuts');

  await shutWarmBot(2);
  const client = new WebSocket(`${service.url.replace('http', 'ws')}/ws/generic/shuts.${service.organization}`);
  const echoed = new Promise((resolve) => client.on('message', (data) => resolve(String(data))));
  client.on('open', () => client.send('hello'));
  expect(await echoed).toBe('hello');
  client.close();
});
