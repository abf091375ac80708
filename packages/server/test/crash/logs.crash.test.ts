import { setTimeout as delay } from 'node:timers/promises';
import type { LogLine } from '@bothost/contract';
import { describe, expect, inject, it } from 'vitest';
import { createSeededRandom } from '../../../runtime/test/random.ts';
import { useCrashService, writeAgent } from './crash-service.ts';

/**
 * A bot that prints the numbers up to the number in the request body, the last without a line break, then responds and exits.
 */
const bot = `
const { createServer } = require('node:http');
const { writeSync } = require('node:fs');
let sessionId;
createServer(async (request, response) => {
  if (request.url === '/_bot/session') {
    return response.end(JSON.stringify(sessionId === undefined ? { state: 'idle' } : { state: 'running', sessionId }));
  }
  if (request.url !== '/bot') return response.end('{}');
  sessionId = request.headers['x-session-id'];
  let body = '';
  for await (const chunk of request) body += chunk;
  const { count, atOnce, pause } = JSON.parse(body);
  let next = 0;
  const timer = setInterval(() => {
    let text = '';
    for (let i = 0; i < atOnce && next < count; i++) text += next++ + '\\n';
    writeSync(1, next < count ? text : text + 'the end');
    if (next < count) return;
    clearInterval(timer);
    // The request may be waiting for a killed server.
    response.once('close', () => process.exit(0)).end('{}');
  }, pause);
}).listen(Number(process.env.PORT), process.env.BOT_HOST);
`;

const kills = Math.max(5, Math.floor(inject('kills') / 5));
const seed = inject('killSeed');

type Page = { readonly logs: readonly LogLine[]; readonly nextCursor: string | null };

const random = createSeededRandom(seed);
const files = { 'package.json': '{"name": "counter", "main": "main.js"}', 'main.js': bot };
const service = await useCrashService({
  writeAgents: (directory) => [writeAgent(directory, 'counter', 'max_agents = 10', files)],
});

describe(`${kills} kills of the server while bots write (seed ${seed})`, () => {
  async function ask<T>(method: string, path: string, options?: { key: string; body: unknown }): Promise<T> {
    const { status, body } = await service.request<T>(method, path, options);
    expect({ path, status, body }).toMatchObject({ status: 200 });
    return body;
  }
  const page = (query: string) => ask<Page>('GET', `/v1/agents/counter/logs?${query}`);
  async function beginSession(body: { count: number; atOnce: number; pause: number }): Promise<string> {
    const { sessionId } = await ask<{ sessionId: string }>('POST', '/v1/public/counter/start', {
      key: service.publicKey,
      body: { body },
    });
    return sessionId;
  }
  /** Follows the log of a session from its first line to its end. */
  async function follow(sessionId: string): Promise<readonly string[]> {
    const lines: string[] = [];
    for (let cursor = ''; ; ) {
      const next = await page(`sessionId=${sessionId}&order=asc&limit=1000&wait=5${cursor}`);
      lines.push(...next.logs.map(({ log }) => log));
      if (next.nextCursor === null) return lines;
      cursor = `&cursor=${next.nextCursor}`;
    }
  }
  const counted = (count: number) => [...Array.from({ length: count }, (_, index) => String(index)), 'the end'];

  it('never lose or duplicate a line in followed or stored logs', async () => {
    let isOver = false;
    const long = await beginSession({ count: 1_000_000, atOnce: 20, pause: 10 });
    const following = { lines: [] as string[], cursor: '' };
    const followed = (async () => {
      while (!isOver) {
        const next = await page(`sessionId=${long}&order=asc&limit=1000&wait=2${following.cursor}`);
        following.lines.push(...next.logs.map(({ log }) => log));
        following.cursor = `&cursor=${next.nextCursor}`;
      }
    })();
    const short: { readonly sessionId: string; readonly count: number; readonly lines: readonly string[] }[] = [];
    const open = new Set<string>();
    const client = async () => {
      while (!isOver) {
        const count = 1 + random.below(400);
        const sessionId = await beginSession({ count, atOnce: 1 + random.below(50), pause: 2 });
        open.add(sessionId);
        short.push({ sessionId, count, lines: await follow(sessionId) });
        open.delete(sessionId);
      }
    };
    const clients = [client(), client()];
    for (let kill = 0; kill < kills; kill++) {
      await service.ready();
      await delay(random.below(2_500));
      await service.kill();
      if (random.next() < 0.3) await delay(random.below(300));
      service.start();
    }
    await service.ready();
    isOver = true;
    // Wait up to 20 s for all sessions to end, then stop the remaining sessions. Some may remain: if a bot answers the first
    // request for the state of its session too late, the service does not ask the bot later whether the session has started. If
    // the server is then killed before the bot receives the start request, the session ends only at its time limit.
    await Promise.race([Promise.all(clients), delay(20_000)]);
    for (const sessionId of open) await ask('DELETE', `/v1/agents/counter/sessions/${sessionId}`);
    await Promise.all([followed, ...clients]);

    const { lines } = following;
    expect(lines.length).toBeGreaterThan(kills * 20);
    expect(lines).toEqual(counted(1_000_000).slice(0, lines.length));
    expect(short.length).toBeGreaterThan(kills / 4);
    const wrong: unknown[] = [];
    for (const { sessionId, count, lines: seen } of short) {
      const again = await follow(sessionId);
      const expected = JSON.stringify(counted(count));
      const ends = await ask<{ completionStatus: string }>('GET', `/v1/agents/counter/sessions/${sessionId}`);
      // If a session did not end as completed, its bot may not have written all lines.
      const isWhole = ends.completionStatus === 'HTTP_COMPLETED';
      for (const read of [seen, again]) {
        if (isWhole ? JSON.stringify(read) !== expected : !expected.startsWith(JSON.stringify(read).slice(0, -1)))
          wrong.push({ sessionId, count, ends: ends.completionStatus, read });
      }
    }
    expect(wrong).toEqual([]);
    await service.stopInOrder();
    process.stdout.write(`${kills} kills: ${lines.length} lines followed, ${short.length} short sessions\n`);
  }, 600_000);
});
