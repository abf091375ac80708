import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, type RequestListener, request, type Server } from 'node:http';
import type { AddressInfo, ListenOptions } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestDirectory } from '../../../../runtime/test/test-directory.ts';
import type { BotAddress } from '../../instances/address.ts';
import { createBotRequestForwarder } from './bot-requests.ts';

const servers: Server[] = [];
let forwarder: ReturnType<typeof createBotRequestForwarder>;
let client: Agent;

beforeEach(() => {
  forwarder = createBotRequestForwarder();
  client = new Agent({ keepAlive: true, maxSockets: 1 });
});
afterEach(async () => {
  client.destroy();
  await forwarder.close();
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
});

async function listen(listener: RequestListener, at: ListenOptions): Promise<Server> {
  const server = createServer(listener).listen(at);
  servers.push(server);
  await once(server, 'listening');
  return server;
}

const LOOPBACK = { port: 0, host: '127.0.0.1' };

const portOf = (server: Server) => (server.address() as AddressInfo).port;

/** Starts a server that forwards every request to a bot. Resolves with its port. */
async function forward(address: BotAddress): Promise<number> {
  const server = await listen((incoming, response) => {
    const headers: Record<string, string> = {};
    const size = incoming.headers['content-length'];
    if (size !== undefined) headers['content-length'] = size;
    forwarder.send({ address, path: incoming.url ?? '/', headers }, incoming, response, {
      onAnswer: (status, answer) => {
        const length = answer['content-length'];
        response.writeHead(status, length === undefined ? {} : { 'content-length': String(length) });
      },
      onFailure: (error) => response.writeHead(502).end(error.message),
      onClose: () => undefined,
    });
  }, LOOPBACK);
  return portOf(server);
}

async function ask(port: number, method = 'GET', body: string | Buffer = ''): Promise<IncomingMessage> {
  const sent = request({ host: '127.0.0.1', port, method, agent: client });
  sent.end(body);
  const [answer] = await once(sent, 'response');
  return answer;
}

/** Starts a bot and resolves with its address. */
const places = {
  'a port': async (bot: RequestListener) => ({ host: '127.0.0.1', port: portOf(await listen(bot, LOOPBACK)) }),
  'a Unix socket': async (bot: RequestListener) => {
    const directory = await createTestDirectory();
    const socket = join(directory, 'bot');
    await listen(bot, { path: socket });
    return { socket };
  },
} as const;

describe.each(Object.entries(places))('a request to a bot on %s', (_, startBot) => {
  const frontOf = async (bot: RequestListener) => forward(await startBot(bot));

  test('fails at the client when the bot aborts its response', async () => {
    const port = await frontOf((_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half', () => response.destroy());
    });
    await expect(text(await ask(port))).rejects.toThrow('aborted');
  });

  test('returns response headers before the first byte of the body exists', async () => {
    let finish: () => void = () => undefined;
    const port = await frontOf((_, response) => {
      response.flushHeaders();
      finish = () => response.end('at last');
    });
    const answer = await ask(port);
    finish();
    expect(await text(answer)).toBe('at last');
  });

  test('is aborted when the client disconnects', async () => {
    let left: () => void = () => undefined;
    const disconnected = new Promise<void>((resolve) => {
      left = resolve;
    });
    const port = await frontOf((_, response) => {
      response.on('close', left);
      response.write('and so on');
    });
    (await ask(port)).destroy();
    await disconnected;
  });

  test("returns a response that the bot sends before it reads the whole body, and keeps the client's connection", async () => {
    const port = await frontOf((_, response) => void response.writeHead(413, { 'content-length': 5 }).end('small'));
    const first = await ask(port, 'POST', Buffer.alloc(5_000_000));
    expect([first.statusCode, await text(first)]).toEqual([413, 'small']);
    const second = await ask(port);
    expect([second.statusCode, await text(second)]).toEqual([413, 'small']);
  });

  test('streams large bodies in both directions', async () => {
    const port = await frontOf((incoming, response) => void incoming.pipe(response));
    const body = Buffer.alloc(3_000_000, 'word ');
    expect(await text(await ask(port, 'PUT', body))).toBe(body.toString());
  });

  test('is retried if it has no body and the bot closes the reused connection', async () => {
    let connections = 0;
    let answered = 0;
    const port = await frontOf((incoming, response) => {
      answered += 1;
      if (answered === 2) incoming.socket.destroy();
      else response.end('here');
    });
    servers[0]?.on('connection', () => {
      connections += 1;
    });
    expect(await text(await ask(port))).toBe('here');
    expect(await text(await ask(port))).toBe('here');
    expect([answered, connections]).toEqual([3, 2]);
  });

  test('fails with an error if no bot listens', async () => {
    const port = await frontOf((incoming) => void incoming.socket.destroy());
    const answer = await ask(port, 'POST', 'work');
    expect(answer.statusCode).toBe(502);
  });

  test('has a valid Host header', async () => {
    const port = await frontOf((incoming, response) => response.end(incoming.headers.host));
    expect(await text(await ask(port))).toMatch(/^(localhost|127\.0\.0\.1:\d+)$/);
  });
});
