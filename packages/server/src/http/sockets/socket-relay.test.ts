import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import {
  evaluateJavaScriptInBot,
  sessionUrl,
  startAgentSession,
  startWebSocketSession,
  stopAgentSession,
  waitForInstanceExit,
  waitForSessionEnd,
  waitUntilAgentIdle,
} from '../../../test/support/client.ts';
import { useTestServer } from '../../../test/support/use-test-server.ts';
import { relayWebSockets } from './socket-relay.ts';

type Client = { readonly socket: WebSocket; readonly sessionId: string };

/**
 * JavaScript that the bot evaluates. On SIGTERM, the bot waits until its WebSocket has closed, and then exits with the close
 * code (modulo 256). The test reads the code from the exit status, because no request reaches the bot after the close.
 */
const exitsWithCode = `const closed = new Promise((resolve) => sockets.clients.forEach((socket) => socket.on("close", resolve)));
  process.on("SIGTERM", async () => process.exit((await closed) % 256)); true`;

/** Opens a connection and returns the server's and the client's WebSocket. */
async function pair(server: WebSocketServer): Promise<[WebSocket, WebSocket]> {
  const { port } = server.address() as AddressInfo;
  const far = new WebSocket(`ws://127.0.0.1:${port}`);
  const [[near]] = await Promise.all([once(server, 'connection'), once(far, 'open')]);
  return [near as WebSocket, far];
}

const service = await useTestServer({ bots: { talker: { minAgents: 1, maxAgents: 2 } } });
afterEach(() => waitUntilAgentIdle(service, 'talker'));

/**
 * Connects to a bot in one of two ways: through the agent's path, where messages are relayed, or through the session
 * proxy, where bytes are spliced.
 */
async function open(way: 'relay' | 'splice', offered: string[] = [], query = ''): Promise<Client> {
  if (way === 'relay') {
    const { sessionId, url } = await startWebSocketSession(service, 'talker');
    const socket = new WebSocket(url + query, offered);
    await once(socket, 'open');
    return { socket, sessionId };
  }
  const sessionId = await startAgentSession(service, 'talker');
  const url = sessionUrl(service, 'talker', sessionId, '/socket').replace('http', 'ws');
  const socket = new WebSocket(`${url}?access_token=${service.publicKey}${query}`, offered);
  await once(socket, 'open');
  return { socket, sessionId };
}

const order = (client: Client, code: string) => evaluateJavaScriptInBot(service, 'talker', client.sessionId, code);

async function end(way: 'relay' | 'splice', { socket, sessionId }: Client) {
  socket.close();
  if (way === 'splice') await stopAgentSession(service, 'talker', sessionId);
  const { completionStatus } = await waitForSessionEnd(service, 'talker', sessionId);
  expect(completionStatus).toBe(way === 'relay' ? 'WS_CONNECTION_CLOSED' : 'SESSION_STOPPED');
}

describe('a WebSocket between a client and a bot', () => {
  describe.each(['relay', 'splice'] as const)('forwarded by a %s', (way) => {
    it('keeps the type, order and boundaries of messages', async () => {
      const client = await open(way);
      const sent = Array.from({ length: 300 }, (_, index) =>
        index % 3 === 0 ? `text ${index}` : Buffer.alloc(index * 11, index),
      );
      const received: (string | Buffer)[] = [];
      const all = new Promise<void>((resolve) => {
        client.socket.on('message', (data: Buffer, isBinary: boolean) => {
          received.push(isBinary ? data : data.toString());
          if (received.length === sent.length) resolve();
        });
      });
      for (const message of sent) client.socket.send(message);
      await all;
      expect(received).toEqual(sent);
      await end(way, client);
    });

    it('returns the subprotocol that the bot chose', async () => {
      const client = await open(way, ['first.example', 'second.example']);
      expect(client.socket.protocol).toBe('first.example');
      await end(way, client);
    });

    it('answers pings', async () => {
      const client = await open(way);
      client.socket.ping('are you there');
      expect(String((await once(client.socket, 'pong'))[0])).toBe('are you there');
      await end(way, client);
    });

    it.each([
      [4321, 'because'],
      [1000, ''],
      [3000, 'a library of its own'],
    ])('forwards the close code of the bot: %i', async (code, reason) => {
      const client = await open(way);
      const closed = once(client.socket, 'close');
      await order(client, `sockets.clients.forEach((socket) => socket.close(${code}, ${JSON.stringify(reason)}))`);
      const [seenCode, seenReason] = await closed;
      expect([seenCode, String(seenReason)]).toEqual([code, reason]);
      await end(way, client);
    });

    it('limits memory use if the client does not read', async () => {
      const client = await open(way);
      client.socket.pause();
      // Let the bot send 512 MB in total. It pauses while its send buffer is full.
      await order(
        client,
        `state.pushed = 0; state.push = () => { const block = Buffer.alloc(1048576); sockets.clients.forEach((socket) => {
          const next = () => { if (state.pushed < 512) { state.pushed += 1; socket.send(block, next); } }; next(); }) }; state.push()`,
      );
      let before = -1;
      await expect
        .poll(async () => {
          const now = await order(client, 'state.pushed');
          const stands = now === before;
          before = now as number;
          return stands;
        })
        .toBe(true);
      expect(before).toBeLessThan(64);
      let received = 0;
      const all = new Promise<void>((resolve) => {
        client.socket.on('message', () => {
          received += 1;
          if (received === 512) resolve();
        });
      });
      client.socket.resume();
      await all;
      await end(way, client);
    });
  });

  it.each([
    ['without a code, as a normal end', (socket: WebSocket) => socket.close(), 1000],
    ['by dropping the connection, as an error', (socket: WebSocket) => socket.terminate(), 1011],
    ['with a code and a reason, unchanged', (socket: WebSocket) => socket.close(4002, 'enough'), 4002],
  ])('reports to the bot how the client closed the WebSocket: %s', async (_, close, code) => {
    const client = await open('relay');
    await order(client, exitsWithCode);
    close(client.socket);
    expect((await waitForSessionEnd(service, 'talker', client.sessionId)).completionStatus).toBe(
      'WS_CONNECTION_CLOSED',
    );
    expect(await waitForInstanceExit(service, 'talker', client.sessionId)).toMatchObject({ code: code % 256 });
  });

  it('closes both sockets when the session is stopped', async () => {
    const client = await open('relay');
    await order(client, exitsWithCode);
    const closed = once(client.socket, 'close');
    await stopAgentSession(service, 'talker', client.sessionId);
    expect((await closed)[0]).toBe(1001);
    expect((await waitForSessionEnd(service, 'talker', client.sessionId)).completionStatus).toBe('SESSION_STOPPED');
    expect(await waitForInstanceExit(service, 'talker', client.sessionId)).toMatchObject({ code: 1001 % 256 });
  });

  it('accepts messages of 16 MB from both sides, and closes after a larger message', async () => {
    const fits = await open('relay');
    fits.socket.send(Buffer.alloc(16 * 1024 * 1024));
    const [echoed] = await once(fits.socket, 'message');
    expect(echoed).toHaveLength(16 * 1024 * 1024);
    const closed = once(fits.socket, 'close');
    fits.socket.send(Buffer.alloc(16 * 1024 * 1024 + 1));
    expect((await closed)[0]).toBe(1009);
    await waitForSessionEnd(service, 'talker', fits.sessionId);
    await waitUntilAgentIdle(service, 'talker');

    const fromBot = await open('relay');
    const closedByBot = once(fromBot.socket, 'close');
    // The bot sends the large message only after the client has sent `now`. If the bot sent the message at once, the session
    // could end before the bot responds to the request below.
    await order(
      fromBot,
      'sockets.clients.forEach((socket) => socket.once("message", () => socket.send(Buffer.alloc(16 * 1024 * 1024 + 1))))',
    );
    fromBot.socket.send('now');
    expect((await closedByBot)[0]).toBe(1011);
    await waitForSessionEnd(service, 'talker', fromBot.sessionId);
  });

  it('limits memory use if the bot does not read', async () => {
    const client = await open('relay');
    await order(client, 'sockets.clients.forEach((socket) => socket.pause())');
    let pushed = 0;
    const block = Buffer.alloc(1_048_576);
    const next = () => {
      if (pushed < 256) {
        pushed += 1;
        client.socket.send(block, next);
      }
    };
    next();
    let before = -1;
    await expect
      .poll(
        () => {
          const stands = pushed === before;
          before = pushed;
          return stands;
        },
        { interval: 300 },
      )
      .toBe(true);
    expect(pushed).toBeLessThan(64);
    await stopAgentSession(service, 'talker', client.sessionId);
    expect((await waitForSessionEnd(service, 'talker', client.sessionId)).completionStatus).toBe('SESSION_STOPPED');
    client.socket.terminate();
  });

  it('ends if the client disconnects while the bot does not read', async () => {
    const servers = [new WebSocketServer({ port: 0 }), new WebSocketServer({ port: 0 })] as const;
    const [[client, far], [bot, deaf]] = await Promise.all([pair(servers[0]), pair(servers[1])]);
    deaf.pause();
    const ends = relayWebSockets(client, bot, async () => true, 20);
    const block = Buffer.alloc(1_048_576);
    for (let sent = 0; sent < 64; sent += 1) far.send(block);
    await expect.poll(() => client.isPaused).toBe(true);
    far.terminate();
    await ends;
    deaf.terminate();
    for (const server of servers) server.close();
  });

  it('ends if the bot is silent and its machine does not respond', async () => {
    const servers = [new WebSocketServer({ port: 0 }), new WebSocketServer({ port: 0 })] as const;
    const [[client, far], [bot, silent]] = await Promise.all([pair(servers[0]), pair(servers[1])]);
    const closed = once(far, 'close');
    expect(await relayWebSockets(client, bot, async () => false, 20)).toEqual({ by: 'bot', code: 1006 });
    expect((await closed)[0]).toBe(1011);
    silent.terminate();
    for (const server of servers) server.close();
  });

  it.each([
    ['sends a message while its machine is asked', true],
    ['has a machine that cannot be asked', false],
  ])('stays open if the bot %s', async (_, isAsked) => {
    const servers = [new WebSocketServer({ port: 0 }), new WebSocketServer({ port: 0 })] as const;
    const [[client, far], [bot, speaker]] = await Promise.all([pair(servers[0]), pair(servers[1])]);
    let asked = 0;
    const isBotReachable = () => {
      asked += 1;
      if (!isAsked) throw new Error('no socket is left');
      const sent = once(bot, 'message').then(() => false);
      speaker.send('here');
      return sent;
    };
    const ends = relayWebSockets(client, bot, isBotReachable, 20);
    await expect.poll(() => asked).toBeGreaterThan(4);
    expect(bot.readyState).toBe(bot.OPEN);
    far.close();
    expect(await ends).toEqual({ by: 'client' });
    for (const server of servers) server.close();
  });

  it('pauses the sender when too many empty messages are queued, and loses none', async () => {
    const servers = [new WebSocketServer({ port: 0 }), new WebSocketServer({ port: 0 })] as const;
    const upgraded = once(servers[1], 'connection');
    const [[client, far], [bot, ear]] = await Promise.all([pair(servers[0]), pair(servers[1])]);
    const [, { socket }] = await upgraded;
    const ends = relayWebSockets(client, bot, async () => true);
    let received = 0;
    ear.on('message', () => {
      received += 1;
    });
    // Hold back what the service sends to the bot, as if the bot did not read.
    socket.cork();
    for (let sent = 0; sent < 20_000; sent += 1) far.send('');
    await expect.poll(() => client.isPaused).toBe(true);
    socket.uncork();
    await expect.poll(() => received).toBe(20_000);
    far.close();
    await ends;
    for (const server of servers) server.close();
  });

  it("forwards the query without token and agent name to the bot, with the session's headers", async () => {
    const client = await open('relay', [], '&body=e30%3D&room=7&serviceHost=x.y');
    const upgrades = (await order(client, 'state.upgrades')) as { url: string; headers: Record<string, string> }[];
    expect(upgrades.map(({ url }) => url)).toEqual(['/ws?body=e30%3D&room=7']);
    expect(upgrades[0]?.headers).toMatchObject({
      'x-session-id': client.sessionId,
      'x-daily-session-id': client.sessionId,
      'x-transport-type': 'websocket',
      'x-daily-transport-type': 'websocket',
    });
    expect(upgrades[0]?.headers).not.toHaveProperty('authorization');
    await end('relay', client);
  });

  it('forwards the query through the session proxy without the key, and otherwise byte for byte', async () => {
    const client = await open('splice', [], '&next=/a?b=c%20d&plus=1+1');
    const upgrades = (await order(client, 'state.upgrades')) as { url: string }[];
    expect(upgrades.map(({ url }) => url)).toEqual(['/socket?next=/a?b=c%20d&plus=1+1']);
    await end('splice', client);
  });
});
