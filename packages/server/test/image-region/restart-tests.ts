import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import {
  createBearerTokenHeaders,
  sessionUrl,
  startAgentSession,
  stopAgentSession,
  waitForSessionEnd,
} from '../support/client.ts';
import { findBot, getSessionLengthMs, type ImageRegion, waitUntilRemoved } from './image-region.ts';

export function defineRestartTests(getRegion: () => ImageRegion): void {
  describe('a session that outlives the service', () => {
    it.each([
      ['is killed', 'SIGKILL', {}],
      ['stops and leaves the bots running', 'SIGTERM', { BOTHOST_ON_STOP: 'leave' }],
    ] as const)('because it %s continues, and ends truthfully', async (_, signal, changes) => {
      const region = getRegion();
      if (signal === 'SIGTERM') await restart(region, 'SIGKILL', changes);
      const continued = await startAgentSession(region, 'parrot');
      const ended = await startAgentSession(region, 'parrot', { exitAfterSeconds: 2 });
      const {
        wsUrl,
        token,
        sessionId: relayed = '',
      } = await region.publicClient.startSession({
        params: { agentName: 'parrot' },
        body: { transport: 'websocket' },
      });
      const socket = new WebSocket(`${wsUrl}/${token}`).on('error', () => undefined);
      await once(socket, 'open');
      for (const sessionId of [continued, ended]) await hello(region, sessionId);
      await restart(region, signal);
      expect(await waitForSessionEnd(region, 'parrot', relayed)).toMatchObject({
        completionStatus: 'SERVICE_INTERRUPTED',
      });
      const record = await waitForSessionEnd(region, 'parrot', ended);
      expect(record).toMatchObject({ completionStatus: 'HTTP_COMPLETED' });
      expect(Math.round(getSessionLengthMs(record) / 1000)).toBe(2);
      expect(await hello(region, continued)).toMatchObject({ sessionId: continued });
      await stopAgentSession(region, 'parrot', continued);
      expect(await waitForSessionEnd(region, 'parrot', continued)).toMatchObject({
        completionStatus: 'SESSION_STOPPED',
      });
    });
  });

  describe("an image that derives from Pipecat Cloud's base image", () => {
    const end = (bot: string) => getRegion().platform.runInBot(bot, 'touch', '/app/end');

    it('runs a session to its end, and is removed although its program does not exit', async () => {
      const region = getRegion();
      const sessionId = await startAgentSession(region, 'pipecat');
      const bot = await waitUntilLive(region, sessionId);
      expect(await region.platform.runInBot(bot, 'cat', '/app/session')).toBe(sessionId);
      await end(bot);
      expect(await waitForSessionEnd(region, 'pipecat', sessionId)).toMatchObject({
        completionStatus: 'HTTP_COMPLETED',
      });
      await waitUntilRemoved(region, 'pipecat');
    });

    it('ends a session with status 200 after an exception, which the log shows', async () => {
      const region = getRegion();
      const sessionId = await startAgentSession(region, 'pipecat', { fails: true });
      expect(await waitForSessionEnd(region, 'pipecat', sessionId)).toMatchObject({
        completionStatus: 'HTTP_COMPLETED',
      });
      const query = { sessionId, query: 'ValueError: no seeds' };
      const { logs } = await region.client.getLogs({ params: { agentName: 'pipecat' }, query });
      expect(logs).toMatchObject([{ log: 'ValueError: no seeds' }]);
      await waitUntilRemoved(region, 'pipecat');
    });

    it('runs a session to its end although the service is killed twice', async () => {
      const region = getRegion();
      const sessionId = await startAgentSession(region, 'pipecat');
      const bot = await waitUntilLive(region, sessionId);
      for (let kill = 0; kill < 2; kill++) {
        await restart(region, 'SIGKILL');
        await expect.poll(() => isListening(region, bot)).toBe(false);
      }
      const session = () => region.client.getSession({ params: { agentName: 'pipecat', sessionId } });
      expect(await session()).toMatchObject({ endState: 'active' });
      const endedAt = Date.now();
      await end(bot);
      const record = await waitForSessionEnd(region, 'pipecat', sessionId);
      expect(record).toMatchObject({ completionStatus: 'HTTP_COMPLETED' });
      expect(Date.parse(record.endedAt ?? '') - endedAt).toBeLessThan(20_000);
      await waitUntilRemoved(region, 'pipecat');
    });

    it('ends a session that ended while the service was down', async () => {
      const region = getRegion();
      const sessionId = await startAgentSession(region, 'pipecat');
      const bot = await waitUntilLive(region, sessionId);
      await region.end('SIGKILL');
      await end(bot);
      await region.start();
      expect(await waitForSessionEnd(region, 'pipecat', sessionId)).toMatchObject({
        completionStatus: 'HTTP_COMPLETED',
      });
      await waitUntilRemoved(region, 'pipecat');
    });

    it('can still be stopped after a restart of the service', async ({ skip }) => {
      const region = getRegion();
      skip(!region.platform.shortensGracePeriods, 'not applicable: the platform does not shorten grace periods');
      const sessionId = await startAgentSession(region, 'pipecat');
      await waitUntilLive(region, sessionId);
      await restart(region, 'SIGKILL');
      await stopAgentSession(region, 'pipecat', sessionId);
      expect(await waitForSessionEnd(region, 'pipecat', sessionId)).toMatchObject({
        completionStatus: 'SESSION_STOPPED',
      });
      await waitUntilRemoved(region, 'pipecat');
    });
  });
}

async function restart(
  region: ImageRegion,
  signal: 'SIGKILL' | 'SIGTERM',
  changes?: Readonly<Record<string, string>>,
): Promise<void> {
  await region.end(signal);
  await region.start(changes);
}

/** Whether a bot accepts connections. It does not once SIGTERM asked it to exit after its session. */
function isListening({ platform }: ImageRegion, bot: string): Promise<boolean> {
  const connect = "import socket; socket.create_connection(('127.0.0.1', 8080))";
  return platform.runInBot(bot, 'python', '-c', connect).then(
    () => true,
    () => false,
  );
}

async function hello(region: ImageRegion, sessionId: string): Promise<unknown> {
  const url = sessionUrl(region, 'parrot', sessionId, '/hello');
  return (await fetch(url, createBearerTokenHeaders(region.publicKey))).json();
}

/** Waits until a bot has its session. Returns its container or pod. */
async function waitUntilLive(region: ImageRegion, sessionId: string): Promise<string> {
  const read = () => region.client.getSession({ params: { agentName: 'pipecat', sessionId } });
  await expect.poll(async () => (await read()).botStartMilliseconds).not.toBeNull();
  return findBot(region, 'pipecat');
}
