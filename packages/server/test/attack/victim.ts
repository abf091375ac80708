import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type ApiClient, apiErrorDefinitions } from '@bothost/contract';
import { writeAgent } from '../crash/crash-service.ts';
import { builtParrot } from '../crash/fixture-bots.ts';
import type { ApiResponse, ServiceProcess } from '../support/service-process.ts';

/** How a session ends: its client stops it, or its bot completes it. */
const ends = ['SESSION_STOPPED', 'HTTP_COMPLETED'] as const;

export type VictimSession = {
  readonly id: string;
  readonly end: (typeof ends)[number];
  /** Milliseconds from the start request until its response. */
  readonly startMs: number;
  /**
   * Milliseconds from the start request until the first response of the bot. NaN if the bot completes the session, because such
   * a session may end before a response.
   */
  readonly botMs: number;
};

export type VictimSessionResult = VictimSession & { readonly isWarm: boolean; readonly problems: readonly string[] };

/**
 * Enough warm instances for all sessions that start within several seconds. The service needs time to replace a warm instance
 * that a session has taken.
 */
export const warmInstanceCount = 12;
/** Milliseconds between the starts of two sessions. */
const intervalMs = 500;

/** Writes the victim's agent, which has enough warm instances for its starts. Returns its directory. */
export function writeVictimBot(parent: string): string {
  const files = { 'main.js': readFileSync(builtParrot, 'utf8') };
  return writeAgent(parent, 'parrot', `min_agents = ${warmInstanceCount}`, files);
}

/** Starts a session twice per second, whether or not earlier sessions have started. Throws if a request fails. */
export async function runVictimSessions(service: ServiceProcess, milliseconds: number): Promise<VictimSession[]> {
  const sessions: Promise<VictimSession>[] = [];
  for (const endsAt = performance.now() + milliseconds; performance.now() < endsAt; ) {
    const session = runVictimSession(service, ends[sessions.length % ends.length] ?? ends[0]);
    // Prevent an unhandled rejection; `Promise.all` below reports the failure.
    session.catch(() => undefined);
    sessions.push(session);
    await delay(intervalMs);
  }
  return Promise.all(sessions);
}

async function runVictimSession(service: ServiceProcess, end: VictimSession['end']): Promise<VictimSession> {
  const session = await beginSession(service, end);
  if (end === 'SESSION_STOPPED') await stopSession(service, session.id);
  return session;
}

export async function beginSession(service: ServiceProcess, end: VictimSession['end']): Promise<VictimSession> {
  const body = { tag: randomUUID(), ...(end === 'HTTP_COMPLETED' ? { exitAfterSeconds: 1 } : {}) };
  const startedAt = performance.now();
  const started = await call(service, 'POST', '/v1/public/parrot/start', service.publicKey, { body });
  const startMs = performance.now() - startedAt;
  const id = String(started['sessionId']);
  if (end === 'HTTP_COMPLETED') return { id, end, startMs, botMs: Number.NaN };
  await checkBotResponds(service, id);
  return { id, end, startMs, botMs: performance.now() - startedAt };
}

/**
 * Throws if the bot of the session does not respond. Repeats a request that timed out while the bot was starting, which happens
 * on a busy machine.
 */
export async function checkBotResponds(service: ServiceProcess, id: string): Promise<void> {
  const send = () => service.call('GET', `/v1/public/parrot/sessions/${id}/hello`, service.publicKey);
  let response = await send();
  while (response?.status === apiErrorDefinitions['bot-not-ready'].status) response = await send();
  const reply = bodyOf(response, `the first request to the bot of session ${id}`);
  if (reply['sessionId'] !== id)
    throw new Error(
      `Session ${id}: the reply of the bot does not contain this session id. Reply: ${JSON.stringify(reply)}`,
    );
}

export async function stopSession(service: ServiceProcess, id: string): Promise<void> {
  await call(service, 'DELETE', `/v1/agents/parrot/sessions/${id}`, service.privateKey);
}

async function call(service: ServiceProcess, method: string, path: string, key: string, body?: unknown) {
  return bodyOf(await service.call(method, path, key, body), `${method} ${path}`);
}

function bodyOf(response: ApiResponse | null, request: string): Record<string, unknown> {
  if (response === null) throw new Error(`No response to ${request}: the connection failed.`);
  if (response.status !== 200)
    throw new Error(`Response without status 200 to ${request}: ${JSON.stringify(response)}`);
  return response.body as Record<string, unknown>;
}

/** Checks the record and the log of an ended session. */
export async function checkSessionRecordAndLog(
  client: ApiClient,
  session: VictimSession,
): Promise<VictimSessionResult> {
  const { id, end } = session;
  const params = { agentName: 'parrot', sessionId: id };
  const record = await client.getSession({ params });
  const query = { sessionId: id, order: 'asc', limit: 1_000 } as const;
  // Read further pages even if a page has few lines, because the service ends a page when its time limit is reached.
  let page = await client.getLogs({ params: { agentName: 'parrot' }, query });
  const logs = [...page.logs];
  while (page.nextCursor !== null) {
    const next = { ...query, cursor: page.nextCursor };
    page = await client.getLogs({ params: { agentName: 'parrot' }, query: next });
    logs.push(...page.logs);
  }
  const lines = logs.map(({ log }) => log);
  const dropped = logs.filter(({ droppedBytes }) => droppedBytes !== undefined);
  return {
    ...session,
    isWarm: record.coldStart === false,
    problems: [
      ...(record.completionStatus === end ? [] : [`${id} ended with ${record.completionStatus} instead of ${end}`]),
      ...(dropped.length === 0 ? [] : [`${id} lost output`]),
      ...[`parrot: session ${id} started`, `parrot: session ${id} ended`]
        .filter((line) => !lines.includes(line))
        .map((line) => `the log lacks "${line}" and ends with "${lines.slice(-3).join(' | ')}"`),
    ],
  };
}
