import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ApiClient, createApiClient, type PhoneCarrier, phoneCarriers } from '@bothost/contract';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { isRoot } from '../../runtime/test/root.ts';
import { type BotProjectDirectory, writeBot } from './support/bots.ts';
import {
  evaluateJavaScriptInBot,
  sessionUrl,
  stopAgentSession,
  waitForSessionEnd,
  waitUntilAgentReady,
} from './support/client.ts';
import { findFreePort } from './support/free-port.ts';
import { createCarrierCall, dialCall } from './support/phone-calls.ts';
import { createServiceProcess } from './support/service-process.ts';
import { openTestConnections } from './support/test-database.ts';
import { startTestServer, type TestServer } from './support/test-server.ts';

// A table: every transport, and every cause of the end of a session. `python-bots.ts` and the tests of the Python host
// test what is special to Python, because they need Python packages.

const transports = ['plain', 'webrtc', 'generic', ...phoneCarriers] as const;
type Transport = (typeof transports)[number];

type Service = {
  readonly url: string;
  readonly organization: string;
  readonly publicKey: string;
  readonly client: ApiClient;
  readonly publicClient: ApiClient;
};
type Session = { readonly agentName: string; readonly sessionId: string; readonly socket: WebSocket | null };

const isCarrier = (transport: Transport): transport is PhoneCarrier =>
  (phoneCarriers as readonly string[]).includes(transport);
const isRelayed = (transport: Transport) => transport === 'generic' || isCarrier(transport);

const writeBots = () =>
  Promise.all([
    writeBot('caller', { maxAgents: 10, conversationLevel: 'transcript' }),
    // Carriers send no token.
    writeBot('phone', { maxAgents: 10, websocketAuth: 'none', conversationLevel: 'transcript' }),
  ]);

async function waitUntilReady(service: Service): Promise<void> {
  for (const agentName of ['caller', 'phone']) await waitUntilAgentReady(service, agentName);
}

/** Starts a session and waits until its bot has it. */
async function open(service: Service, transport: Transport): Promise<Session> {
  const agentName = isCarrier(transport) ? 'phone' : 'caller';
  if (isCarrier(transport)) {
    const words = createCarrierCall(transport, `${agentName}.${service.organization}`);
    const call = await dialCall(service, words.path);
    call.say(...words.opening);
    await call.hear(words.opening.length);
    const { sessions } = await service.client.getSessions({ params: { agentName }, query: { limit: 1 } });
    const sessionId = sessions[0]?.sessionId ?? '';
    await evaluateJavaScriptInBot(service, agentName, sessionId, 'true');
    return { agentName, sessionId, socket: call.socket };
  }
  const body = transport === 'plain' ? {} : { transport: transport === 'generic' ? 'websocket' : transport };
  const start = await service.publicClient.startSession({ params: { agentName }, body: body as object });
  const sessionId = start.sessionId ?? '';
  const socket = transport === 'generic' ? new WebSocket(`${start.wsUrl}?token=${start.token}`) : null;
  socket?.on('error', () => undefined);
  if (socket !== null) await once(socket, 'open');
  await evaluateJavaScriptInBot(service, agentName, sessionId, 'true');
  return { agentName, sessionId, socket };
}

/** Connects a client of a session without a relayed socket through the session proxy, where it can also disconnect. */
async function openProxied(service: Service, { agentName, sessionId }: Session): Promise<WebSocket> {
  const url = sessionUrl(service, agentName, sessionId, '/socket').replace('http', 'ws');
  const socket = new WebSocket(`${url}?access_token=${service.publicKey}`);
  await once(socket, 'open');
  return socket;
}

const eat =
  'const kept = []; const eat = () => { kept.push(Buffer.alloc(33554432, 1)); setImmediate(eat); }; eat(); true';
const closeSockets = (code: number) =>
  `setImmediate(() => sockets.clients.forEach((socket) => socket.close(${code}))); true`;

type Row = {
  readonly cause: string;
  /** What the bot evaluates: in a session whose socket is relayed, and in any other session. */
  readonly relayed: string;
  readonly other: string;
  readonly ends: readonly [relayed: string, other: string, endState: string];
  /** The event that holds the cause. */
  readonly event: readonly [code: string, detail: object] | null;
};

const exits = (code: string, detail: object): Omit<Row, 'cause'> => ({
  relayed: code,
  other: code,
  ends: ['HTTP_ERROR', 'HTTP_ERROR', 'agent_error'],
  event: ['INSTANCE_EXITED', detail],
});

const causedByBot: readonly Row[] = [
  {
    cause: 'return',
    relayed: closeSockets(1000),
    other: "state.end(200, '{}')",
    ends: ['WS_CONNECTION_CLOSED', 'HTTP_COMPLETED', 'completed'],
    event: null,
  },
  {
    cause: 'exception',
    relayed: `console.error('ValueError: no seeds'); ${closeSockets(1011)}`,
    other: "console.error('ValueError: no seeds'); state.end(500, '{}')",
    ends: ['500', '500', 'agent_error'],
    event: ['BOT_FAILED', { status: 500, exceptionType: null, tail: expect.stringContaining('ValueError: no seeds') }],
  },
  { cause: 'exit 0', ...exits('setImmediate(() => process.exit(0)); true', { code: 0, signal: null }) },
  {
    cause: 'exit 1',
    ...exits('setImmediate(() => { throw new Error("oh dear"); }); true', {
      code: 1,
      signal: null,
      tail: expect.stringContaining('oh dear'),
    }),
  },
  { cause: 'SIGKILL', ...exits("process.kill(process.pid, 'SIGKILL'); true", { code: null, signal: 'SIGKILL' }) },
  { cause: 'out of memory', ...exits(eat, { outOfMemory: true }) },
];

const read = (service: Service, { agentName, sessionId }: Session) =>
  service.client.getSession({ params: { agentName, sessionId } });

describe('the record of a session', () => {
  let bots: readonly BotProjectDirectory[];
  let service: TestServer;

  beforeAll(async () => {
    bots = await writeBots();
    service = await startTestServer({ agents: bots.map(({ path }) => path) });
    await waitUntilReady(service);
  });
  afterAll(async () => {
    await service.close();
    await Promise.all(bots.map((bot) => bot.remove()));
  });

  describe.each(transports)('over the transport %s', (transport) => {
    const pick = (ends: Row['ends']) => ({
      completionStatus: isRelayed(transport) ? ends[0] : ends[1],
      endState: ends[2],
    });

    it.for(causedByBot)('names the cause: $cause', async ({ cause, relayed, other, ends, event }, { skip }) => {
      skip(cause === 'out of memory' && !isRoot, 'only root can limit the memory of bots');
      const session = await open(service, transport);
      const { agentName, sessionId } = session;
      const code = isRelayed(transport) ? relayed : other;
      await evaluateJavaScriptInBot(service, agentName, sessionId, code).catch(() => undefined);
      expect(await waitForSessionEnd(service, agentName, sessionId)).toMatchObject(pick(ends));
      if (event === null) return;
      const [eventCode, detail] = event;
      const find = async () => (await read(service, session)).events.find((found) => found.eventCode === eventCode);
      await expect.poll(find, { timeout: 20_000 }).toMatchObject({ detail });
    });

    it('names the cause: stop', async () => {
      const session = await open(service, transport);
      await stopAgentSession(service, session.agentName, session.sessionId);
      expect(await waitForSessionEnd(service, session.agentName, session.sessionId)).toMatchObject({
        completionStatus: 'SESSION_STOPPED',
        endState: 'terminated',
      });
    });

    it.each([
      ['client closes normally', (socket: WebSocket) => socket.close(1000)],
      ['client vanishes', (socket: WebSocket) => socket.terminate()],
    ])('names the cause: %s', async (_, leave) => {
      const session = await open(service, transport);
      const { agentName, sessionId } = session;
      if (session.socket !== null) {
        leave(session.socket);
        expect(await waitForSessionEnd(service, agentName, sessionId)).toMatchObject({
          completionStatus: 'WS_CONNECTION_CLOSED',
          endState: 'completed',
        });
        return;
      }
      leave(await openProxied(service, session));
      const connected = () => evaluateJavaScriptInBot(service, agentName, sessionId, 'sockets.clients.size');
      await expect.poll(connected).toBe(0);
      expect(await read(service, session)).toMatchObject({ completionStatus: null, endState: 'active' });
      await stopAgentSession(service, agentName, sessionId);
      await waitForSessionEnd(service, agentName, sessionId);
    });
  });

  describe('at the time limit', () => {
    const records = new Map<Transport, Session>();

    beforeAll(async () => {
      const db = await openTestConnections(service.database);
      await sql`update deployments set max_session_seconds = 5`.execute(db);
      for (const transport of transports) records.set(transport, await open(service, transport));
      return () => db.destroy();
    });

    it.each(transports)('names the cause over the transport %s', async (transport) => {
      const { agentName, sessionId } = records.get(transport) ?? (await open(service, transport));
      expect(await waitForSessionEnd(service, agentName, sessionId)).toMatchObject({
        completionStatus: 'SESSION_TIME_LIMIT',
        endState: 'terminated',
      });
    });
  });
});

describe('the record of a session whose server is killed', () => {
  const sessions = new Map<Transport, Session>();
  let service: Service;

  beforeAll(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'bothost-outcomes-'));
    await chmod(directory, 0o711);
    const bots = await writeBots();
    const agents = bots.map(({ path }) => path);
    const server = createServiceProcess({ directory, agents, port: await findFreePort() });
    const { url, organization, privateKey, publicKey } = server;
    const client = createApiClient({ origin: url, key: privateKey });
    service = { url, organization, publicKey, client, publicClient: createApiClient({ origin: url, key: publicKey }) };
    await server.start().ready;
    await waitUntilReady(service);
    for (const transport of transports) sessions.set(transport, await open(service, transport));
    server.current().signal('SIGKILL');
    await server.current().exited;
    await server.start().ready;
    return async () => {
      server.current().signal('SIGTERM');
      await server.current().exited;
      await Promise.all(bots.map((bot) => bot.remove()));
      await rm(directory, { recursive: true, force: true });
    };
  });

  it.each(transports)('over the transport %s says whether the service interrupted it', async (transport) => {
    const session = sessions.get(transport);
    if (session === undefined) return expect.unreachable();
    const { agentName, sessionId } = session;
    if (!isRelayed(transport)) {
      await evaluateJavaScriptInBot(service, agentName, sessionId, 'true');
      expect(await read(service, session)).toMatchObject({ completionStatus: null, endState: 'active' });
      return stopAgentSession(service, agentName, sessionId);
    }
    expect(await waitForSessionEnd(service, agentName, sessionId)).toMatchObject({
      completionStatus: 'SERVICE_INTERRUPTED',
      endState: 'interrupted',
    });
  });
});
