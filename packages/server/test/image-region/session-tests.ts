import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { phoneCarriers } from '@bothost/contract';
import { describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { runDocker } from '../../../runtime/test/docker/engine.ts';
import {
  createBearerTokenHeaders,
  evaluateJavaScriptInBot,
  sessionUrl,
  startAgentSession,
  stopAgentSession,
  waitForInstanceExit,
  waitForSessionEnd,
} from '../support/client.ts';
import { createCarrierCall, dialCall } from '../support/phone-calls.ts';
import { typeToParrot } from '../support/type-to-parrot.ts';
import { findLatestSession, type ImageRegion, waitUntilRemoved } from './image-region.ts';
import { pipecatImage } from './pipecat-image.ts';

const secret = 'two\nlines of "sunflower"';

export function defineSessionTests(getRegion: () => ImageRegion): void {
  describe('a session', () => {
    it('without a transport gets requests through the proxy, and is stopped or ends by itself', async () => {
      const region = getRegion();
      const sessionId = await startAgentSession(region, 'parrot');
      const url = (path: string) => sessionUrl(region, 'parrot', sessionId, path);
      const hello = await fetch(url('/hello'), createBearerTokenHeaders(region.publicKey));
      expect(await hello.json()).toMatchObject({ sessionId });
      const echo = new WebSocket(`${url('/echo-socket').replace('http', 'ws')}?access_token=${region.publicKey}`);
      await once(echo, 'open');
      echo.send('seed');
      expect(String((await once(echo, 'message'))[0])).toBe('seed');
      await stopAgentSession(region, 'parrot', sessionId);
      expect(await waitForSessionEnd(region, 'parrot', sessionId)).toMatchObject({
        completionStatus: 'SESSION_STOPPED',
      });
      const short = await startAgentSession(region, 'parrot', { exitAfterSeconds: 0.1 });
      expect(await waitForSessionEnd(region, 'parrot', short)).toMatchObject({ completionStatus: 'HTTP_COMPLETED' });
    });

    it('over a WebSocket is relayed, and the service reads its conversation if the platform permits that', async () => {
      const region = getRegion();
      await typeToParrot({ origin: region.url, publicKey: region.publicKey }, 'two herons');
      const sessionId = await findLatestSession(region, 'parrot');
      expect(await waitForSessionEnd(region, 'parrot', sessionId)).toMatchObject({
        completionStatus: 'WS_CONNECTION_CLOSED',
      });
      if (!region.platform.readsConversations) return;
      const params = { agentName: 'parrot', sessionId };
      // The service reads the last lines shortly after the session's end.
      const lines = async () => (await region.client.getSessionConversation({ params, query: {} })).lines;
      await expect.poll(lines).toContainEqual(expect.objectContaining({ kind: 'end' }));
      expect(await lines()).toContainEqual(expect.objectContaining({ kind: 'said', side: 'user', text: 'two herons' }));
    });

    it.each(phoneCarriers)('of a phone call by %s gets the messages of the carrier', async (carrier) => {
      const region = getRegion();
      const words = createCarrierCall(carrier, `puppet.${region.organization}`);
      const call = await dialCall(region, words.path);
      const sent = [...words.opening, words.media(0), words.dtmf, words.stop];
      call.say(...sent);
      expect(await call.hear(sent.length)).toEqual(sent);
      call.socket.close(1000);
      const sessionId = await findLatestSession(region, 'puppet');
      expect(await waitForSessionEnd(region, 'puppet', sessionId)).toMatchObject({
        completionStatus: 'WS_CONNECTION_CLOSED',
      });
    });

    it('over WebRTC sends audio and messages across the network of the bots', async () => {
      const region = getRegion();
      const params = { agentName: 'pipecat' };
      const { sessionId = '' } = await region.publicClient.startSession({ params, body: { transport: 'webrtc' } });
      const url = sessionUrl(region, 'pipecat', sessionId, '/api/offer');
      await fetch(sessionUrl(region, 'pipecat', sessionId, '/readyz'), createBearerTokenHeaders(region.publicKey));
      const client = ['run', '--rm', '--network', 'host', pipecatImage, 'python', 'call.py', url, region.publicKey];
      expect(JSON.parse(await runDocker(...client))).toEqual({ echo: 'hello', frames: 50 });
      expect(await waitForSessionEnd(region, 'pipecat', sessionId)).toMatchObject({
        completionStatus: 'HTTP_COMPLETED',
      });
      await waitUntilRemoved(region, 'pipecat');
    });

    it('has the secrets and the documented variables in its environment, and the service logs no secret', async () => {
      const region = getRegion();
      await region.client.putSecrets({
        params: { setName: 'bird' },
        body: { secrets: [{ secretKey: 'SEEDS', secretValue: secret }] },
      });
      const findSet = async () => (await region.client.listSecrets({})).sets.find(({ name }) => name === 'bird');
      await expect.poll(async () => (await findSet())?.status).toBe('ready');
      await region.deploy('puppet', { secretSet: 'bird' });
      const sessionId = await startAgentSession(region, 'puppet');
      const variables = await evaluateJavaScriptInBot(region, 'puppet', sessionId, 'process.env');
      expect(variables).toMatchObject({ SEEDS: secret, PORT: '8080', BOT_HOST: '0.0.0.0' });
      expect(variables).not.toHaveProperty('BOT_SOCKET');
      expect(variables).not.toHaveProperty('ICE_CONFIG_URL');
      await stopAgentSession(region, 'puppet', sessionId);
      await waitForSessionEnd(region, 'puppet', sessionId);
      expect(await readFile(region.service.logFile, 'utf8')).not.toContain('sunflower');
    });

    it('has a log that can be followed while it runs, and that is stored after its end', async () => {
      const region = getRegion();
      const sessionId = await startAgentSession(region, 'puppet');
      const query = { sessionId, order: 'asc', wait: 20 } as const;
      const read = () => region.client.getLogs({ params: { agentName: 'puppet' }, query });
      await evaluateJavaScriptInBot(region, 'puppet', sessionId, 'console.log("a live line"); true');
      const live = await read();
      expect(live.logs).toMatchObject([{ log: 'a live line', sessionId }]);
      await evaluateJavaScriptInBot(region, 'puppet', sessionId, 'console.error("the last line"); state.end(200)');
      await waitForSessionEnd(region, 'puppet', sessionId);
      await waitUntilRemoved(region, 'puppet');
      const stored = (await read()).logs;
      expect(stored.map(({ log }) => log)).toEqual(['a live line', 'the last line']);
      expect(stored[0]?.timestamp).toBe(live.logs[0]?.timestamp);
    });

    it('that exceeds the memory of its profile ends with this reason', async () => {
      const region = getRegion();
      const sessionId = await startAgentSession(region, 'puppet');
      const eat =
        'const kept = []; const eat = () => { kept.push(Buffer.alloc(33554432, 1)); setImmediate(eat); }; eat(); true';
      await evaluateJavaScriptInBot(region, 'puppet', sessionId, eat).catch(() => undefined);
      expect(await waitForSessionEnd(region, 'puppet', sessionId)).toMatchObject({ completionStatus: 'HTTP_ERROR' });
      expect(await waitForInstanceExit(region, 'puppet', sessionId)).toMatchObject({
        reason: 'out-of-memory',
        outOfMemory: true,
      });
    });
  });
}
