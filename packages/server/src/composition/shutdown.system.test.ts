import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { writeBot } from '../../test/support/bots.ts';
import {
  evaluateJavaScriptInBot,
  startAgentSession as startSession,
  startWebSocketSession,
} from '../../test/support/client.ts';
import { openTestConnections } from '../../test/support/test-database.ts';
import { startTestServer, type TestServer } from '../../test/support/test-server.ts';
import { readConfig } from '../config.ts';
import type { Database } from '../store/tables.ts';
import type { RunningServer } from './server.ts';
import { startServer } from './start-server.ts';

const parrot = fileURLToPath(new URL('../../../../examples/parrot', import.meta.url));
const logger = pino({ level: 'silent' });
const undo: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

async function start(environment: Record<string, string> = {}, agent = parrot, log = logger) {
  const service = await startTestServer({ agents: [agent], environment, logger: log });
  undo.push(service.close);
  const db = await openTestConnections(service.database);
  undo.push(() => db.destroy());
  return { service, db };
}

/** Starts the next server process on the data directory and database of a service. It stops the bots that the service left. */
async function startNextServer(service: TestServer): Promise<RunningServer> {
  const environment = {
    PATH: process.execPath.replace(/\/[^/]+$/, ''),
    HOME: service.dataDirectory,
    BOTHOST_PORT: '0',
    BOTHOST_AGENTS: parrot,
    BOTHOST_DATA_DIR: service.dataDirectory,
    BOTHOST_SHUTDOWN_GRACE: '0',
    DATABASE_URL: service.database.url,
  };
  const next = await startServer(readConfig(environment), logger);
  undo.push(next.close);
  return next;
}

/** Starts a session and waits until its bot has accepted it. */
async function live(service: TestServer): Promise<string> {
  const { sessionId = '' } = await service.publicClient.startSession({
    params: { agentName: 'parrot' },
    body: {},
  });
  const answer = await hello(service.url, service, sessionId);
  expect(answer).toMatchObject({ sessionId });
  return sessionId;
}

async function hello(url: string, { publicKey }: TestServer, sessionId: string): Promise<unknown> {
  const headers = { authorization: `Bearer ${publicKey}` };
  return (await fetch(`${url}/v1/public/parrot/sessions/${sessionId}/hello`, { headers })).json();
}

const statusOf = (db: Database, sessionId: string) =>
  db.selectFrom('sessions').select(['state', 'completion_status']).where('id', '=', sessionId).executeTakeFirst();

describe('shutdown', () => {
  it('ends all sessions with SESSION_STOPPED, even before their client connects, and stops all instances', async () => {
    const { service, db } = await start();
    const ids = [await live(service), await live(service)];
    const { sessionId: waiting = '' } = await service.publicClient.startSession({
      params: { agentName: 'parrot' },
      body: { transport: 'websocket' },
    });
    await service.server.close();
    for (const id of [...ids, waiting]) {
      expect(await statusOf(db, id)).toEqual({ state: 'ended', completion_status: 'SESSION_STOPPED' });
    }
    const running = await db.selectFrom('instances').select('id').where('state', '<>', 'ended').execute();
    expect(running).toEqual([]);
    await expect(fetch(`${service.url}/healthz`)).rejects.toThrow();
  });

  it('waits for live sessions, rejects new ones, and reports that the service is not ready', async () => {
    const bot = await writeBot('patient');
    undo.push(bot.remove);
    const { service, db } = await start({ BOTHOST_SHUTDOWN_GRACE: '60' }, bot.path);
    const id = await startSession(service, 'patient');
    await evaluateJavaScriptInBot(service, 'patient', id, 'true');
    const closing = service.server.close();
    await expect(startSession(service, 'patient')).rejects.toMatchObject({ reason: 'shutting-down', status: 503 });
    expect((await fetch(`${service.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
    await evaluateJavaScriptInBot(service, 'patient', id, 'state.end(200, "{}")');
    await closing;
    expect(await statusOf(db, id)).toEqual({ state: 'ended', completion_status: 'HTTP_COMPLETED' });
  });

  it('continues to wait for live sessions if the database fails during the grace period', async () => {
    const bot = await writeBot('patient');
    undo.push(bot.remove);
    const warnings: string[] = [];
    const log = pino({ level: 'warn' }, { write: (line) => void warnings.push(line) });
    const { service, db } = await start({ BOTHOST_SHUTDOWN_GRACE: '60' }, bot.path, log);
    const id = await startSession(service, 'patient');
    // The bot can be reached before its start is recorded.
    await expect.poll(async () => (await statusOf(db, id))?.state).toBe('live');
    const closing = service.server.close();
    await sql`alter table sessions rename to missing_sessions`.execute(db);
    await expect.poll(() => warnings.join('')).toContain('progress of the shutdown could not be checked');
    await sql`alter table missing_sessions rename to sessions`.execute(db);
    await evaluateJavaScriptInBot(service, 'patient', id, 'state.end(200, "{}")');
    await closing;
    expect(await statusOf(db, id)).toEqual({ state: 'ended', completion_status: 'HTTP_COMPLETED' });
  });

  it('does not wait for live sessions after a second signal', async () => {
    const { service, db } = await start({ BOTHOST_SHUTDOWN_GRACE: '3600' });
    const id = await live(service);
    await Promise.all([service.server.close(), service.server.close()]);
    expect(await statusOf(db, id)).toEqual({ state: 'ended', completion_status: 'SESSION_STOPPED' });
  });
});

describe('shutdown that leaves bots running', () => {
  async function connect(service: TestServer) {
    const { sessionId, url } = await startWebSocketSession(service, 'parrot');
    const socket = new WebSocket(url);
    socket.on('error', () => undefined);
    await once(socket, 'open');
    return { socket, sessionId };
  }

  it('gives a WebSocket session that the server relays the grace period, and rejects new sessions meanwhile', async () => {
    const { service, db } = await start({ BOTHOST_ON_STOP: 'leave', BOTHOST_SHUTDOWN_GRACE: '60' });
    const { socket, sessionId } = await connect(service);
    const other = await live(service);
    const closing = service.server.close();
    const params = { agentName: 'parrot' };
    await expect(service.publicClient.startSession({ params, body: {} })).rejects.toMatchObject({ status: 503 });
    expect(await statusOf(db, sessionId)).toMatchObject({ state: 'live' });
    socket.close(1000);
    await closing;
    expect(await statusOf(db, sessionId)).toEqual({ state: 'ended', completion_status: 'WS_CONNECTION_CLOSED' });
    expect(await statusOf(db, other)).toMatchObject({ state: 'live' });
    await startNextServer(service);
  });

  it('ends a WebSocket session that the server relays with SERVICE_INTERRUPTED after the grace period', async () => {
    const { service, db } = await start({ BOTHOST_ON_STOP: 'leave', BOTHOST_SHUTDOWN_GRACE: '1' });
    const { sessionId } = await connect(service);
    await service.server.close();
    await startNextServer(service);
    expect(await statusOf(db, sessionId)).toEqual({ state: 'ended', completion_status: 'SERVICE_INTERRUPTED' });
  });

  it('ends no session, so the next server process adopts the live session with its metrics', async () => {
    const { service, db } = await start({ BOTHOST_ON_STOP: 'leave' });
    const id = await live(service);
    const path = { agentName: 'parrot', sessionId: id };
    const samples = async () => (await service.client.getSession({ params: path })).resourceMetrics?.sampleCount ?? 0;
    await expect.poll(samples).toBeGreaterThanOrEqual(2);
    const before = await samples();
    await service.server.close();
    expect(await statusOf(db, id)).toEqual({ state: 'live', completion_status: null });

    const next = await startNextServer(service);
    expect(next.firstStart).toBeNull();
    expect(await hello(next.url, service, id)).toMatchObject({ sessionId: id });
    await next.close();
    expect(await statusOf(db, id)).toEqual({ state: 'ended', completion_status: 'SESSION_STOPPED' });
    const metrics = await db
      .selectFrom('session_metrics')
      .select('sample_count')
      .where('session_id', '=', id)
      .executeTakeFirst();
    expect(metrics?.sample_count).toBeGreaterThanOrEqual(before);
  });
});
