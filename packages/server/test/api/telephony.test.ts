import { once } from 'node:events';
import { phoneCarriers } from '@bothost/contract';
import { pino } from 'pino';
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest';
import { createBotColdStartGate } from '../support/bot-cold-start-gate.ts';
import { writeBot } from '../support/bots.ts';
import { evaluateJavaScriptInBot, waitForSessionEnd, waitUntilAgentIdle } from '../support/client.ts';
import { createCarrierCall, createTwilioCall, dialCall } from '../support/phone-calls.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';
import { useSecondOrganization, useTestServer } from '../support/use-test-server.ts';

/**
 * Uses and ends the instance that was started to validate the agent's deployment, so that the next call finds no warm instance.
 */
async function useUpTheFirst(service: TestServer, agentName: string) {
  const { path } = createCarrierCall('telnyx', `${agentName}.${service.organization}`);
  // Retry, because the service refuses calls before it is ready.
  const call = await vi.waitFor(() => dialCall(service, path), { timeout: 40_000, interval: 100 });
  call.socket.close();
  const active = async () => (await service.client.getAgent({ params: { agentName } })).activeSessionCount;
  await vi.waitFor(async () => expect(await active()).toBe(0), { timeout: 40_000 });
}

const lines: string[] = [];
const gate = await createBotColdStartGate();
afterAll(gate.close);
const open = { websocketAuth: 'none' } as const;
const service = await useTestServer({
  bots: {
    phone: { ...open, maxAgents: 2 },
    sleepy: { ...open, prelude: gate.prelude },
    dead: { ...open, prelude: gate.prelude },
    guarded: {},
  },
  logger: pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }),
});
const _neighbours = await useSecondOrganization(service, { theirs: open });
for (const agentName of ['phone', 'sleepy', 'dead']) await useUpTheFirst(service, agentName);
gate.shut();
afterEach(async () => {
  lines.length = 0;
  await Promise.all(['phone', 'sleepy', 'guarded'].map((agentName) => waitUntilAgentIdle(service, agentName)));
});

const hostOf = (agentName: string) => `${agentName}.${service.organization}`;
const refusals = () => lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'call refused');

async function sessionOf(agentName: string): Promise<string> {
  const read = () => service.client.getSessions({ params: { agentName }, query: { status: 'active' } });
  await expect.poll(async () => (await read()).sessions.length).toBe(1);
  return (await read()).sessions[0]?.sessionId ?? '';
}

describe('calls from carriers', () => {
  describe.each(phoneCarriers)('a call from %s', (carrier) => {
    it('forwards every message unchanged in both directions', async () => {
      const words = createCarrierCall(carrier, hostOf('phone'));
      const call = await dialCall(service, words.path);
      const sent = [...words.opening, words.media(0), words.media(1), words.dtmf, words.media(2)];
      call.say(...sent);
      expect(await call.hear(sent.length)).toEqual(sent);

      const sessionId = await sessionOf('phone');
      const upgrades = await evaluateJavaScriptInBot<{ url: string; headers: Record<string, string> }[]>(
        service,
        'phone',
        sessionId,
        'state.upgrades',
      );
      expect(upgrades).toMatchObject([
        {
          url: '/ws',
          headers: { 'x-session-id': sessionId, 'x-transport-type': carrier, 'x-daily-transport-type': carrier },
        },
      ]);
      call.say(words.stop);
      expect(await call.hear(1)).toEqual([words.stop]);
      call.socket.close(1000);
      expect((await waitForSessionEnd(service, 'phone', sessionId)).completionStatus).toBe('WS_CONNECTION_CLOSED');
    });

    it('drops only old audio while its bot starts, and keeps the order of messages', async () => {
      const words = createCarrierCall(carrier, hostOf('sleepy'));
      const bot = gate.next();
      const call = await dialCall(service, words.path);
      const pieces = Array.from({ length: words.piecesHeld * 2 }, (_, index) => words.media(index));
      call.say(...words.opening, ...pieces.slice(0, 3), words.dtmf, ...pieces.slice(3), words.dtmf);
      const order = await bot;
      // The service has read all earlier messages when it answers this ping.
      call.socket.ping();
      await once(call.socket, 'pong');
      order('go');
      const kept = [...words.opening, words.dtmf, ...pieces.slice(-words.piecesHeld), words.dtmf];
      expect(await call.hear(kept.length)).toEqual(kept);
      call.say(words.media(7));
      expect(await call.hear(1)).toEqual([words.media(7)]);
      call.socket.close();
    });

    it('ends with WS_CONNECTION_CLOSED if the caller hangs up while the bot starts', async () => {
      const words = createCarrierCall(carrier, hostOf('sleepy'));
      const bot = gate.next();
      const call = await dialCall(service, words.path);
      call.say(...words.opening, words.media(0), words.stop);
      const sessionId = await sessionOf('sleepy');
      await bot;
      call.socket.close(1000);
      expect((await waitForSessionEnd(service, 'sleepy', sessionId)).completionStatus).toBe('WS_CONNECTION_CLOSED');
    });

    it('is refused at capacity, and accepted later', async () => {
      const words = createCarrierCall(carrier, hostOf('phone'));
      const calls = [await dialCall(service, words.path), await dialCall(service, words.path)];
      for (const call of calls) {
        call.say(...words.opening);
        await call.hear(words.opening.length);
      }
      if (carrier === 'twilio') {
        const third = await dialCall(service, words.path);
        third.say(...words.opening);
        expect(await third.closed).toEqual([1013, 'at-capacity']);
      } else {
        await expect(dialCall(service, words.path)).rejects.toThrow('refused with status 429');
      }
      expect(refusals()).toMatchObject([{ carrier, agent: 'phone', reason: 'at-capacity' }]);
      for (const call of calls) call.socket.close();
    });

    it('is closed if its bot fails to start', async () => {
      const words = createCarrierCall(carrier, hostOf('dead'));
      const bot = gate.next();
      const call = await dialCall(service, words.path);
      call.say(...words.opening);
      (await bot)('die');
      expect(await call.closed).toEqual([1011, 'bot-unreachable']);
    });

    it('is refused without a valid token in its path if the agent requires a token, and the log records why', async () => {
      const words = createCarrierCall(carrier, hostOf('guarded'));
      if (carrier === 'twilio') {
        const call = await dialCall(service, words.path);
        call.say(...words.opening);
        expect(await call.closed).toEqual([1008, 'token-invalid']);
      }
      await expect(dialCall(service, `/ws/${carrier}/${hostOf('guarded')}`)).rejects.toThrow('refused with status 403');
      await expect(dialCall(service, `/ws/${carrier}/${hostOf('guarded')}/wrong`)).rejects.toThrow(
        'refused with status 403',
      );
      expect(refusals()[0]).toMatchObject({
        carrier,
        agent: 'guarded',
        why: expect.stringContaining('websocket_auth'),
      });

      const { sessionId = '', token } = await service.publicClient.startSession({
        params: { agentName: 'guarded' },
        body: { transport: 'websocket' },
      });
      const call = await dialCall(service, `/ws/${carrier}/${hostOf('guarded')}/${token}?room=7`);
      call.say(...words.opening, words.media(0));
      expect(await call.hear(words.opening.length + 1)).toEqual([...words.opening, words.media(0)]);
      const upgrades = await evaluateJavaScriptInBot<{ url: string }[]>(
        service,
        'guarded',
        sessionId,
        'state.upgrades',
      );
      expect(upgrades.map(({ url }) => url)).toEqual(['/ws?room=7']);
      call.socket.close();
      expect((await waitForSessionEnd(service, 'guarded', sessionId)).completionStatus).toBe('WS_CONNECTION_CLOSED');
      await expect(dialCall(service, `/ws/${carrier}/${hostOf('guarded')}/${token}`)).rejects.toThrow(
        'refused with status 403',
      );
    });

    it('reaches only agents of the organization that it names', async () => {
      const words = createCarrierCall(carrier, 'theirs.neighbours');
      const call = await dialCall(service, words.path);
      call.say(...words.opening);
      expect(await call.hear(words.opening.length)).toEqual(words.opening);
      call.socket.close();
      for (const host of [hostOf('theirs'), 'phone.neighbours', 'nobody.neighbours', 'phone.nowhere']) {
        const wrong = createCarrierCall(carrier, host);
        if (carrier === 'twilio') {
          const refused = await dialCall(service, wrong.path);
          refused.say(...wrong.opening);
          expect([host, await refused.closed]).toEqual([host, [1008, 'token-invalid']]);
        } else {
          await expect(dialCall(service, wrong.path)).rejects.toThrow('refused with status 403');
        }
      }
    });
  });

  it.each([
    ['text that is no JSON', 'ring ring'],
    ['bytes', Buffer.from(JSON.stringify(createTwilioCall('x.y').opening[1]))],
    ['JSON that is no message', '[1, 2]'],
    ['a start that names nobody', JSON.stringify({ event: 'start', start: { customParameters: {} } })],
    ['a start that names too much', JSON.stringify(createTwilioCall('a.b.c').opening[1])],
    ['a start that names a number', '{"event":"start","start":{"customParameters":{"_pipecatCloudServiceHost":7}}}'],
    ['a name with a NUL', JSON.stringify(createTwilioCall('a\u0000b.org').opening[1])],
    ['one message that is too large', JSON.stringify({ event: 'connected', filling: 'x'.repeat(20_000) })],
    ['one message that would not end', JSON.stringify({ event: 'connected', filling: 'x'.repeat(900_000) })],
  ])('a Twilio call is refused if it begins with %s', async (_, message) => {
    const call = await dialCall(service, '/ws/twilio');
    call.socket.on('error', () => undefined);
    call.socket.send(message);
    expect((await call.closed)[0]).toBe(1008);
    expect(refusals()).toHaveLength(1);
    expect(lines.join('').length).toBeLessThan(2000);
  });

  it('a Twilio call is refused if it sends endless small messages but no start message', async () => {
    const call = await dialCall(service, '/ws/twilio');
    for (let sent = 0; sent < 1000; sent += 1) call.say({ event: 'connected', protocol: 'Call', version: '1.0.0' });
    expect((await call.closed)[0]).toBe(1008);
  });

  it('a call is closed if it sends too many bytes while its bot starts', async () => {
    const words = createCarrierCall('telnyx', hostOf('sleepy'));
    const bot = gate.next();
    const call = await dialCall(service, words.path);
    await bot;
    const sessionId = await sessionOf('sleepy');
    for (let sent = 0; sent < 1000; sent += 1) call.say({ event: 'mark', mark: { name: 'x'.repeat(100) } });
    expect((await call.closed)[0]).toBe(1008);
    expect((await waitForSessionEnd(service, 'sleepy', sessionId)).completionStatus).toBe('WS_CONNECTION_CLOSED');
  });

  it('a request gets an HTTP error if it names no agent or is not a WebSocket', async () => {
    await expect(dialCall(service, '/ws/telnyx')).rejects.toThrow('refused with status 404');
    await expect(dialCall(service, '/ws/vonage?serviceHost=phone.test-org')).rejects.toThrow('refused with status 404');
    expect((await fetch(`${service.url}/ws/twilio`)).status).toBe(426);
  });
});

describe('a stopping service', () => {
  it('closes all calls with 1001, even while their bot is starting', async () => {
    const gate = await createBotColdStartGate();
    const bots = [
      await writeBot('phone', { websocketAuth: 'none' }),
      await writeBot('sleepy', { websocketAuth: 'none', prelude: gate.prelude }),
    ];
    const service = await startTestServer({ agents: bots.map((bot) => bot.path) });
    for (const agentName of ['phone', 'sleepy']) await useUpTheFirst(service, agentName);
    gate.shut();
    const talking = createCarrierCall('twilio', `phone.${service.organization}`);
    const first = await dialCall(service, talking.path);
    first.say(...talking.opening);
    await first.hear(talking.opening.length);
    const bot = gate.next();
    const ringing = createCarrierCall('twilio', `sleepy.${service.organization}`);
    const second = await dialCall(service, ringing.path);
    second.say(...ringing.opening);
    await bot;
    const closing = service.close();
    expect((await first.closed)[0]).toBe(1001);
    expect((await second.closed)[0]).toBe(1001);
    await closing;
    gate.close();
    await Promise.all(bots.map((bot) => bot.remove()));
  });
});
