import { once } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type BotDirectory, writeBot } from '../support/bots.ts';
import { ended, idle, sessionUrl, stop, tell, withKey } from '../support/client.ts';
import { startTestServer, type TestServer } from '../support/test-server.ts';

const most = 4;
const workers = 10;
const sessionsWanted = 40;

/** A generator that returns the same numbers from 0 to 1 in each run (Park and Miller, 1988). */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}

describe('many concurrent sessions', () => {
  let service: TestServer;
  let bot: BotDirectory;

  beforeAll(async () => {
    bot = await writeBot('busy', { minAgents: 2, maxAgents: most });
    service = await startTestServer({ agents: [bot.path] });
  });
  afterAll(async () => {
    await service.close();
    await bot.remove();
  });

  type Outcome = { readonly id: string; readonly expected: string; readonly pid: number };
  type Seen = { readonly pid: number; readonly ids: (string | undefined)[] };

  /** Asks the bot of a session for its pid and for the sessions that it received. */
  const look = (id: string) =>
    tell<Seen>(
      service,
      'busy',
      id,
      '({ pid: process.pid, ids: [...state.starts, ...state.upgrades].map(({ headers }) => headers["x-session-id"]) })',
    );

  async function overHttp(chance: number): Promise<Outcome | null> {
    const response = await fetch(`${service.url}/v1/public/busy/start`, {
      method: 'POST',
      body: '{}',
      ...withKey(service.publicKey),
    });
    const { sessionId: id = '' } = (await response.json()) as { sessionId?: string };
    if (response.status === 429) return null;
    expect(response.status).toBe(200);
    const { pid, ids } = await look(id);
    expect(ids).toEqual([id]);
    if (chance < 0.3) {
      await tell(service, 'busy', id, 'setImmediate(() => state.end(200, "{}")); true');
      return { id, pid, expected: 'HTTP_COMPLETED' };
    }
    if (chance < 0.5) {
      const code = 'setImmediate(() => process.kill(process.pid, "SIGKILL")); true';
      await fetch(sessionUrl(service, 'busy', id, '/tell'), {
        method: 'POST',
        body: code,
        ...withKey(service.publicKey),
      });
      return { id, pid, expected: 'HTTP_ERROR' };
    }
    await stop(service, 'busy', id);
    return { id, pid, expected: 'SESSION_STOPPED' };
  }

  async function overSocket(): Promise<Outcome | null> {
    const {
      wsUrl,
      token,
      sessionId: id = '',
    } = await service.publicClient.startSession({
      params: { agentName: 'busy' },
      body: { transport: 'websocket' },
    });
    const socket = new WebSocket(`${wsUrl}?token=${token}`);
    socket.on('error', () => undefined);
    const refused = once(socket, 'unexpected-response').then(([, answer]) => answer.statusCode as number);
    const status = await Promise.race([refused, once(socket, 'open').then(() => 101)]);
    if (status === 429) {
      socket.terminate();
      await stop(service, 'busy', id);
      return { id, pid: 0, expected: 'SESSION_STOPPED' };
    }
    expect(status).toBe(101);
    const { pid, ids } = await look(id);
    expect(ids).toEqual([id]);
    socket.close();
    return { id, pid, expected: 'WS_CONNECTION_CLOSED' };
  }

  it('never exceed the limit or share a bot, and have the right completion status', async () => {
    const total = async () => (await service.client.getSessions({ params: { agentName: 'busy' } })).total_count;
    const before = await total();
    const random = sequence(20_261_120);
    const outcomes: Outcome[] = [];
    let greatest = 0;
    let working = true;
    const watch = (async () => {
      while (working) {
        const { activeSessionCount } = await service.client.getAgent({ params: { agentName: 'busy' } });
        greatest = Math.max(greatest, activeSessionCount);
      }
    })();
    const worker = async () => {
      while (outcomes.length < sessionsWanted) {
        const outcome = random() < 0.3 ? await overSocket() : await overHttp(random());
        if (outcome === null) await turn();
        else outcomes.push(outcome);
      }
    };
    await Promise.all(Array.from({ length: workers }, worker)).finally(() => {
      working = false;
    });
    await watch;

    const records = await Promise.all(outcomes.map(({ id }) => ended(service, 'busy', id)));
    expect(records.map(({ sessionId, completionStatus }) => ({ id: sessionId, completionStatus }))).toEqual(
      outcomes.map(({ id, expected }) => ({ id, completionStatus: expected })),
    );
    expect(greatest).toBe(most);
    const pids = outcomes.map(({ pid }) => pid).filter((pid) => pid !== 0);
    expect(new Set(pids).size).toBe(pids.length);
    await idle(service, 'busy');
    expect((await total()) - before).toBe(outcomes.length);
  });
});
