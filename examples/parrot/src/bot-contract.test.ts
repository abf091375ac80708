import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { readConfig } from './config.ts';
import { type ParrotServer, startParrotServer } from './server.ts';

const contract = readFileSync(new URL('../../../docs/bot-contract.md', import.meta.url), 'utf8');

/** Returns the cells of the first table of a section, without the header row and without backticks. */
function tableOf(section: string): readonly (readonly string[])[] {
  const text = contract.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? '';
  const rows = text.match(/^\|.*\|$/gm) ?? [];
  return rows.slice(2).map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.replaceAll('`', '').trim()),
  );
}

const TOKEN = 'token';
const parrots: ParrotServer[] = [];
afterEach(() => Promise.all(parrots.splice(0).map((parrot) => parrot.close())));

async function open() {
  const parrot = await startParrotServer({
    host: '127.0.0.1',
    port: 0,
    controlToken: TOKEN,
    newSessionId: () => 'generated',
    now: () => new Date(),
    preciseNow: () => performance.timeOrigin + performance.now(),
    log: () => {},
  });
  parrots.push(parrot);
  const url = `http://127.0.0.1:${parrot.port}`;
  const call = async (request: string, options: { body?: string; token?: boolean; transport?: string } = {}) => {
    const [method = '', path = ''] = request.split(' ');
    const headers = {
      ...(options.token === false ? {} : { 'x-bot-control-token': TOKEN }),
      ...(options.transport === undefined ? {} : { 'x-transport-type': options.transport }),
    };
    if (method === 'WS') return upgradeStatus(new WebSocket(`${url}${path}`, { headers }));
    const body = method === 'POST' ? (options.body ?? '{}') : undefined;
    return (await fetch(`${url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) })).status;
  };
  const report = async () => {
    const response = await fetch(`${url}/_bot/session`, { headers: { 'x-bot-control-token': TOKEN } });
    return response.json() as Promise<Record<string, unknown>>;
  };
  const startSession = async () => {
    const response = call('POST /bot');
    await expect.poll(report).toMatchObject({ state: 'running' });
    return response;
  };
  return { call, startSession, report };
}

async function upgradeStatus(socket: WebSocket): Promise<number> {
  const [response] = await Promise.race([
    once(socket, 'upgrade'),
    once(socket, 'unexpected-response').then(([, rejection]) => [rejection]),
  ]);
  socket.on('error', () => undefined);
  if (response.statusCode === 101) socket.terminate();
  else response.resume();
  return response.statusCode;
}

type Situation = (request: string, parrot: Awaited<ReturnType<typeof open>>) => Promise<number>;

const situations: Readonly<Record<string, Situation>> = {
  always: (request, { call }) => call(request),
  'the bot can run a session': (request, { call }) => call(request),
  'the session ended by itself': (request, { call }) => call(request, { body: '{"exitAfterSeconds": 0}' }),
  'the session was stopped': async (request, { call, report }) => {
    const status = call(request);
    await expect.poll(report).toMatchObject({ state: 'running' });
    await call('POST /_bot/stop');
    return status;
  },
  'a session is running': async (request, { call, startSession }) => {
    void startSession();
    await expect.poll(() => call('POST /bot')).toBe(409);
    return call(request);
  },
  'the body is not a JSON object': (request, { call }) => call(request, { body: '[]' }),
  'the body has more than 1 MiB': (request, { call }) => call(request, { body: ' '.repeat(1_048_577) }),
  'the bot does not support the transport': (request, { call }) => call(request, { transport: 'webrtc' }),
  'no session is running': (request, { call }) => call(request),
  'no token': (request, { call }) => call(request, { token: false }),
  'the session starts': (request, { call }) => call(request),
  'the route does not exist': (request, { call }) => call(request),
};

describe('the parrot bot', () => {
  const rows = tableOf('Status codes');
  // Skip status 500, which the parrot never sends, because it has no code that could fail.
  const testable = rows.filter(([, situation]) => situation !== 'the bot failed');

  it('is tested for all rows of the status code table in docs/bot-contract.md except status 500', () => {
    expect(rows.length - testable.length).toBe(1);
    expect(testable.length).toBeGreaterThan(15);
  });

  it.each(testable)(
    'responds to the request %s, when %s, with the documented status %s',
    async (request = '', situation = '', status = '') => {
      const probe = situations[situation] ?? expect.fail(`no probe for "${situation}"`);
      expect(status.split(' or ').map(Number)).toContain(await probe(request, await open()));
    },
  );

  it('accepts a start request with a body of 1 MiB', async () => {
    const { call } = await open();
    const body = '{"exitAfterSeconds": 0}'.padEnd(1_048_576);
    expect(await call('POST /bot', { body })).toBe(200);
  });

  it('reads only environment variables that docs/bot-contract.md lists', () => {
    const names = new Set<string>();
    const env = new Proxy<NodeJS.ProcessEnv>({}, { get: (_, name) => void names.add(String(name)) });
    readConfig(env);
    const documented = [...tableOf('Environment'), ...tableOf('Python host')].map(([name]) => name);
    expect(documented).toContain('PORT');
    expect([...names].filter((name) => !contract.includes(`| \`${name}\` |`))).toEqual([]);
  });

  it('reports the states idle, running and ended, with only documented fields', async () => {
    const { startSession, report, call } = await open();
    const states = [(await report())['state']];
    const response = startSession();
    await expect.poll(report).toMatchObject({ state: 'running' });
    states.push('running');
    await call('POST /_bot/stop');
    await response;
    states.push((await report())['state']);
    expect(states).toEqual(['idle', 'running', 'ended']);
    const fields = contract.match(/^\| `state`[\s\S]*?\n\n/m)?.[0] ?? '';
    for (const name of Object.keys(await report())) expect(fields).toContain(`\`${name}\``);
  });
});
