import { afterEach, describe, expect, it } from 'vitest';
import { type BotOptions, writeBot } from './support/bots.ts';
import { evaluateJavaScriptInBot, startAgentSession, stopAgentSession, waitForSessionEnd } from './support/client.ts';
import { startTestServer, type TestServer } from './support/test-server.ts';

const undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function serve(options: BotOptions) {
  const bot = await writeBot('pooled', options);
  undo.push(bot.remove);
  const service = await startTestServer({ agents: [bot.path] });
  undo.push(service.close);
  return { bot, service };
}

const poll = { timeout: 40_000, interval: 50 };
const show = (service: TestServer) => service.client.getAgent({ params: { agentName: 'pooled' } });
const idleOf = async (service: TestServer) => (await show(service)).idleInstanceCount;
const session = (service: TestServer, sessionId: string) =>
  service.client.getSession({ params: { agentName: 'pooled', sessionId } });

describe('the warm pool', () => {
  it('is filled at startup, serves sessions at once, and is refilled after each session', async () => {
    const { service } = await serve({ minAgents: 1, maxAgents: 2 });
    await expect.poll(() => idleOf(service), poll).toBe(1);
    const first = await startAgentSession(service, 'pooled');
    const process = await evaluateJavaScriptInBot<number>(service, 'pooled', first, 'process.pid');
    // Poll, because the bot may accept its session and answer requests before the service stores the session record.
    await expect.poll(async () => (await session(service, first)).coldStart, poll).toBe(false);
    expect((await session(service, first)).startPhases?.boot).toBe(0);

    await expect.poll(() => idleOf(service), poll).toBe(1);
    const second = await startAgentSession(service, 'pooled');
    expect(await evaluateJavaScriptInBot<number>(service, 'pooled', second, 'process.pid')).not.toBe(process);
    // At max_agents, the warm pool is empty and a further session is refused.
    await expect(startAgentSession(service, 'pooled')).rejects.toMatchObject({ reason: 'at-capacity' });
    expect(await idleOf(service)).toBe(0);

    await stopAgentSession(service, 'pooled', first);
    await waitForSessionEnd(service, 'pooled', first);
    await expect.poll(() => idleOf(service), poll).toBe(1);
  });

  it('reports why its bots do not start, and ends the session that waits for a bot', async () => {
    const { bot, service } = await serve({
      minAgents: 1,
      afterFall: 'console.error("no voice"); process.exit(3);',
    });
    await expect.poll(() => idleOf(service), poll).toBe(1);
    await bot.fall();
    await stopAgentSession(service, 'pooled', await startAgentSession(service, 'pooled'));
    const conditions = async () => (await show(service)).conditions;
    await expect
      .poll(conditions, poll)
      .toMatchObject([
        { type: 'Degraded', reason: 'InstancesFailToStart', message: expect.stringContaining('no voice') },
      ]);
    const id = await startAgentSession(service, 'pooled');
    expect(await waitForSessionEnd(service, 'pooled', id)).toMatchObject({
      completionStatus: 'HTTP_ERROR',
      coldStart: null,
    });
    expect(await show(service)).toMatchObject({
      ready: true,
      errors: [],
      currentRevision: { phase: 'Active', health: { ready: false, state: 'waiting', lastExitCode: 3 } },
    });
  });
});
