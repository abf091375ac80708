import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { testAsRoot } from '../../../runtime/test/root.ts';
import { type BotProjectDirectory, writeBot } from '../support/bots.ts';
import {
  createBearerTokenHeaders,
  evaluateJavaScriptInBot,
  sessionUrl,
  startAgentSession,
  startWebSocketSession,
  stopAgentSession,
  waitForInstanceExit,
  waitForSessionEnd,
  waitUntilAgentIdle,
} from '../support/client.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

/** Returns whether a process is running. A zombie does not count as running. */
function runs(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

const listen = `.listen(Number(process.env.PORT), process.env.BOT_HOST)`;

describe('the service with a faulty bot', () => {
  let service: TestServer;
  let bots: BotProjectDirectory[];
  const log: string[] = [];

  beforeAll(async () => {
    bots = [
      await writeBot('puppet', { conversationLevel: 'transcript' }),
      await writeBot('gone', { afterFall: 'console.error("no luck today"); process.exit(3);' }),
      await writeBot('binary', {
        afterFall:
          'require("node:fs").writeSync(2, Buffer.from("bad\\0\\x1b[31m\\xff\\xfe end", "latin1")); process.exit(4);',
      }),
      await writeBot('never', {
        afterFall: `require('node:http').createServer((_, response) => response.writeHead(503).end())${listen};`,
      }),
      await writeBot('nonsense', {
        alone: true,
        prelude: `require('node:net').createServer((socket) => socket.on('error', () => undefined).once('data', (data) => {
          const line = String(data).split(' ')[1];
          if (line === '/readyz') return socket.end('HTTP/1.1 200 OK\\r\\ncontent-length: 0\\r\\n\\r\\n');
          if (line === '/bot') return;
          socket.end(Buffer.from(decodeURIComponent(line.slice(1)).replace('LONG', 'a'.repeat(40_000)), 'latin1'));
        }))${listen};`,
      }),
    ];
    const logger = pino({ level: 'info' }, { write: (line: string) => void log.push(line) });
    service = await startTestServer({ agents: bots.map((bot) => bot.path), logger });
    // Break the bots only after their deployments were validated, because a deployment that never worked gets no traffic. The
    // sessions below use up the working instances that were started for the validation.
    for (const [index, name] of ['gone', 'binary', 'never'].entries()) {
      await bots[index + 1]?.fall();
      const id = await startAgentSession(service, name);
      await evaluateJavaScriptInBot(service, name, id, 'state.end(200, "{}")');
    }
  });
  afterAll(async () => {
    await service.close();
    await Promise.all(bots.map((bot) => bot.remove()));
  });

  const puppet = (id: string, code: string) => evaluateJavaScriptInBot(service, 'puppet', id, code);

  it('ends the session, with exit status and last output lines, if the bot exits before it is ready', async () => {
    const id = await startAgentSession(service, 'gone');
    const held = fetch(sessionUrl(service, 'gone', id, '/x'), createBearerTokenHeaders(service.publicKey));
    expect(await waitForSessionEnd(service, 'gone', id)).toMatchObject({
      completionStatus: 'HTTP_ERROR',
      endState: 'ended_before_agent_start',
      botStartSeconds: null,
    });
    expect(await waitForInstanceExit(service, 'gone', id)).toMatchObject({
      code: 3,
      signal: null,
      tail: expect.stringContaining('no luck today'),
    });
    expect((await held).status).toBe(404);
    await waitUntilAgentIdle(service, 'gone');
  });

  it('refuses a waiting WebSocket with an HTTP status if the bot exits before it is ready', async () => {
    const { sessionId, url } = await startWebSocketSession(service, 'gone');
    const socket = new WebSocket(url);
    socket.on('error', () => undefined);
    const [, answer] = await once(socket, 'unexpected-response');
    expect(answer.statusCode).toBe(502);
    socket.terminate();
    expect((await waitForSessionEnd(service, 'gone', sessionId)).completionStatus).toBe('HTTP_ERROR');
  });

  it('records the readable part of output with invalid UTF-8', async () => {
    const id = await startAgentSession(service, 'binary');
    expect((await waitForSessionEnd(service, 'binary', id)).completionStatus).toBe('HTTP_ERROR');
    expect(await waitForInstanceExit(service, 'binary', id)).toMatchObject({
      code: 4,
      tail: expect.stringMatching(/bad.*end/s),
    });
    await waitUntilAgentIdle(service, 'binary');
  });

  it.each([
    ['with a status', 'setImmediate(() => process.exit(7)); true', { code: 7, signal: null }],
    ['with the status of success', 'setImmediate(() => process.exit(0)); true', { code: 0, signal: null }],
    [
      'by an error',
      'setImmediate(() => { throw new Error("oh dear") }); true',
      { code: 1, tail: expect.stringContaining('oh dear') },
    ],
    ['by a signal', 'process.kill(process.pid, "SIGKILL"); true', { code: null, signal: 'SIGKILL' }],
  ])('ends the session if the bot exits %s', async (_, code, exit) => {
    const id = await startAgentSession(service, 'puppet');
    await puppet(id, code).catch(() => undefined);
    expect(await waitForSessionEnd(service, 'puppet', id)).toMatchObject({
      completionStatus: 'HTTP_ERROR',
      endState: 'agent_error',
    });
    expect(await waitForInstanceExit(service, 'puppet', id)).toMatchObject(exit);
    await waitUntilAgentIdle(service, 'puppet');
  });

  it.each([
    [200, '{}', 'HTTP_COMPLETED'],
    [500, 'it broke', '500'],
    [204, '', '204'],
    [418, '{"completionStatus": "HTTP_COMPLETED"}', '418'],
    [500, '{"completionStatus": "SESSION_STOPPED"}', '500'],
    [200, '{"completionStatus": "LEFT_EARLY"}', 'LEFT_EARLY'],
    [200, '{"completionStatus": "left [red]early"}', 'HTTP_COMPLETED'],
    [200, `{"completionStatus": "${'A'.repeat(80)}"}`, 'HTTP_COMPLETED'],
  ])(
    'after a bot response with status %i and body %s, the completion status of the session is %s',
    async (status, body, recorded) => {
      const id = await startAgentSession(service, 'puppet');
      await puppet(id, `state.end(${status}, ${JSON.stringify(body)})`);
      expect((await waitForSessionEnd(service, 'puppet', id)).completionStatus).toBe(recorded);
      await waitUntilAgentIdle(service, 'puppet');
    },
  );

  it.each([
    ['by SIGTERM', 'SIGTERM', ''],
    ['by SIGKILL after it ignored SIGTERM', 'SIGKILL', "process.on('SIGTERM', () => {});"],
  ])('records no exit event if, after a session, the service ends the bot %s', async (_, signal, code) => {
    const id = await startAgentSession(service, 'puppet');
    await puppet(id, `${code} state.end(200, '{}')`);
    expect(await waitForSessionEnd(service, 'puppet', id)).toMatchObject({ completionStatus: 'HTTP_COMPLETED' });
    await waitUntilAgentIdle(service, 'puppet');
    const { events } = await waitForSessionEnd(service, 'puppet', id);
    expect(events.map(({ eventCode }) => eventCode)).not.toContain('INSTANCE_EXITED');
    expect(log.filter((line) => line.includes(id) && line.includes('instance ended')).join()).toContain(signal);
  });

  it('kills the bot with all its children if the bot ignores the stop signal', async () => {
    const id = await startAgentSession(service, 'puppet');
    const family = (await puppet(
      id,
      `process.on('SIGTERM', () => {}); new Promise((resolve) => {
        const { spawn } = require('node:child_process');
        // A child, one in a session of its own, and a grandchild whose parent has exited: all deaf to SIGTERM.
        const deaf = "trap '' TERM HUP; echo $$; exec sleep 600";
        const pids = [process.pid];
        const take = (child) => child.stdout.once('data', (text) => { pids.push(Number(text)); if (pids.length === 4) resolve(pids); });
        take(spawn('sh', ['-c', deaf]));
        take(spawn('sh', ['-c', deaf], { detached: true }));
        take(spawn('sh', ['-c', "setsid sh -c \\"" + deaf.replaceAll('$', '\\\\$') + "\\" &"]));
      })`,
    )) as number[];
    expect(family.map(runs)).toEqual([true, true, true, true]);
    await stopAgentSession(service, 'puppet', id);
    expect((await waitForSessionEnd(service, 'puppet', id)).completionStatus).toBe('SESSION_STOPPED');
    await waitUntilAgentIdle(service, 'puppet');
    // Without control groups, the runtime finds a process whose parent has exited only after the end of the session.
    await expect.poll(() => family.map(runs), { timeout: 10_000 }).toEqual([false, false, false, false]);
  });

  it('survives a bot that floods its output, and records how much output was dropped', async () => {
    const id = await startAgentSession(service, 'puppet');
    await puppet(
      id,
      `const block = 'x'.repeat(1023) + '\\n'; for (let n = 0; n < 90_000; n += 1) require('node:fs').writeSync(1, block); true`,
    );
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
    const cut = async () => {
      const { events } = await service.client.getSession({ params: { agentName: 'puppet', sessionId: id } });
      return events.some(({ eventCode }) => eventCode === 'INSTANCE_OUTPUT_DROPPED');
    };
    await expect.poll(cut).toBe(true);
    await stopAgentSession(service, 'puppet', id);
    await waitUntilAgentIdle(service, 'puppet');
  });

  testAsRoot('kills only the bot that uses too much memory, and records why', async () => {
    const id = await startAgentSession(service, 'puppet');
    const other = await startAgentSession(service, 'puppet');
    await puppet(other, 'true');
    await puppet(
      id,
      `const kept = []; const eat = () => { kept.push(Buffer.alloc(32 * 1048576, 1)); setImmediate(eat); }; eat(); true`,
    ).catch(() => undefined);
    expect((await waitForSessionEnd(service, 'puppet', id)).completionStatus).toBe('HTTP_ERROR');
    expect(await waitForInstanceExit(service, 'puppet', id)).toMatchObject({ outOfMemory: true });
    expect(await puppet(other, '"still here"')).toBe('still here');
    await stopAgentSession(service, 'puppet', other);
    await waitUntilAgentIdle(service, 'puppet');
  });

  it('leaves no process if the session is stopped before its bot is ready', async () => {
    const id = await startAgentSession(service, 'never');
    const held = fetch(sessionUrl(service, 'never', id, '/x'), createBearerTokenHeaders(service.publicKey));
    await expect
      .poll(async () => (await service.client.getAgent({ params: { agentName: 'never' } })).startingInstanceCount)
      .toBe(1);
    await stopAgentSession(service, 'never', id);
    expect((await held).status).toBe(404);
    expect(await waitForSessionEnd(service, 'never', id)).toMatchObject({
      completionStatus: 'SESSION_STOPPED',
      botStartSeconds: null,
      coldStart: null,
    });
    await waitUntilAgentIdle(service, 'never');
  });

  it('stops the bot if its WebSocket client disconnects before the bot is ready', async () => {
    const { sessionId, url } = await startWebSocketSession(service, 'never');
    const socket = new WebSocket(url);
    socket.on('error', () => undefined);
    const agent = () => service.client.getAgent({ params: { agentName: 'never' } });
    await expect.poll(async () => (await agent()).startingInstanceCount).toBe(1);
    socket.terminate();
    expect((await waitForSessionEnd(service, 'never', sessionId)).completionStatus).toBe('WS_CONNECTION_CLOSED');
    await waitUntilAgentIdle(service, 'never');
  });

  it.each([
    ['a status below 100', 'HTTP/1.1 042 Odd\r\n\r\n'],
    ['an invalid status', 'HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n'],
    ['an unexpected 100 Continue', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['an unexpected switch of protocols', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
    ['no HTTP', 'hello'],
    ['nothing', ''],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nab'],
    ['a length and a coding', 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'],
    ['invalid characters in a header', 'HTTP/1.1 200 OK\r\nx-a: \x01\x02\r\ncontent-length: 0\r\n\r\n'],
    ['endless headers', 'HTTP/1.1 200 OK\r\nx-a: LONG\r\n\r\n'],
  ])('survives a response with %s, and responds to the client', async (_, answer) => {
    const id = await startAgentSession(service, 'nonsense');
    const url = sessionUrl(service, 'nonsense', id, `/${encodeURIComponent(answer)}`);
    const { status } = await fetch(url, createBearerTokenHeaders(service.publicKey)).catch(() => ({ status: 0 }));
    expect([502, 999]).toContain(status);
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
    await stopAgentSession(service, 'nonsense', id);
    await waitUntilAgentIdle(service, 'nonsense');
  });

  it('aborts the response to the client if the bot aborts its response', async () => {
    const id = await startAgentSession(service, 'puppet');
    await puppet(
      id,
      'state.onRequest = (_, response) => { response.writeHead(200, { "content-length": 10 }); response.write("half"); state.half = response; }; true',
    );
    const response = await fetch(
      sessionUrl(service, 'puppet', id, '/half'),
      createBearerTokenHeaders(service.publicKey),
    );
    expect(response.status).toBe(200);
    await puppet(id, 'state.half.destroy(); true');
    await expect(response.text()).rejects.toThrow();
    await stopAgentSession(service, 'puppet', id);
    await waitUntilAgentIdle(service, 'puppet');
  });
});
