import type { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Random } from '../../../runtime/test/random.ts';
import type { ApiResponse, ServiceProcess } from '../support/service-process.ts';
import type { BotEventFile } from './bot-event-file.ts';
import type { SessionObserver } from './observer.ts';

/**
 * How a session of a scenario ends: through its client, its bot, or a crash of the bot. A `mute` bot does not answer the
 * service's requests for the state of its session.
 */
export const scenarioKinds = ['stopped', 'leaves', 'socket', 'fails', 'crashes', 'mute-leaves', 'mute-fails'] as const;
export type ScenarioKind = (typeof scenarioKinds)[number];

/** One session as its client sees it. Times are milliseconds since the epoch. */
export type Scenario = {
  readonly tag: string;
  readonly kind: ScenarioKind;
  askedAt: number;
  /** Null if the server was killed before it responded. */
  answeredAt: number | null;
  /** The id of the session. Null if the start request created no session. */
  sessionId: string | null;
  stopAskedAt: number | null;
  /** Failures that the client noticed itself, independent of the stored record. */
  readonly problems: string[];
};

export type ScenarioContext = {
  readonly service: ServiceProcess;
  readonly observer: SessionObserver;
  readonly botEventFile: BotEventFile;
  readonly random: Random;
  /** Emits `asking` before a start request, and `ending` when a session is about to end. */
  readonly events: EventEmitter;
  /**
   * Waits until the given server process has ended. Resolves with the ids of the sessions that the database then contained,
   * grouped by the tag in their request body. The map is empty if the database was killed too.
   */
  readonly afterExit: (server: number) => Promise<ReadonlyMap<string, readonly string[]>>;
};

/** Milliseconds that a session may take to end after its scenario. A session that takes longer counts as lost. */
const timeoutMs = 60_000;
/**
 * Milliseconds after which the client stops a session whose bot was never called. Used only for bots that do not report their
 * session (`mute`).
 */
const muteMs = 6_000;
const pollMs = 40;

/** Runs one session from start to end, through any number of server crashes. */
export async function runScenario(
  context: ScenarioContext,
  kind: ScenarioKind,
  tag: string,
  milliseconds = 100 + context.random.below(1_100),
): Promise<Scenario> {
  const { scenario, answer } = await beginSession(context, kind, tag, milliseconds);
  if (scenario.sessionId === null) return scenario;
  if (kind === 'socket' && answer !== null) await talk(context, scenario, answer, milliseconds);
  else if (kind === 'stopped' || kind === 'socket') await useAndStop(context, scenario, milliseconds);
  else void delay(milliseconds).then(() => context.events.emit('ending'));
  await waitForSessionEnd(context, scenario);
  return scenario;
}

export async function beginSession(context: ScenarioContext, kind: ScenarioKind, tag: string, milliseconds: number) {
  const scenario: Scenario = {
    tag,
    kind,
    askedAt: Date.now(),
    answeredAt: null,
    sessionId: null,
    stopAskedAt: null,
    problems: [],
  };
  return { scenario, answer: await start(context, scenario, milliseconds) };
}

type StartResponse = { readonly sessionId: string; readonly wsUrl?: string; readonly token?: string };

async function start(
  context: ScenarioContext,
  scenario: Scenario,
  milliseconds: number,
): Promise<StartResponse | null> {
  const { service, events } = context;
  await service.ready();
  const server = service.current().number;
  scenario.askedAt = Date.now();
  events.emit('asking');
  const answer = await service.call('POST', `/v1/public/${agentOf(scenario.kind)}/start`, service.publicKey, {
    ...(scenario.kind === 'socket' ? { transport: 'websocket' } : {}),
    body: { tag: scenario.tag, ...bodyOf(scenario.kind, milliseconds) },
  });
  if (answer === null) {
    const [found, ...more] = (await context.afterExit(server)).get(scenario.tag) ?? [];
    if (more.length > 0) scenario.problems.push(`one start made ${more.length + 1} sessions`);
    scenario.sessionId = found ?? null;
    await service.ready(server);
    return null;
  }
  scenario.answeredAt = Date.now();
  if (answer.status !== 200) {
    scenario.problems.push(`the start was answered ${answer.status} ${JSON.stringify(answer.body)}`);
    return null;
  }
  const body = answer.body as StartResponse;
  scenario.sessionId = body.sessionId;
  return body;
}

function agentOf(kind: ScenarioKind): 'parrot' | 'worker' | 'mute' {
  if (kind === 'fails' || kind === 'crashes') return 'worker';
  return kind === 'mute-leaves' || kind === 'mute-fails' ? 'mute' : 'parrot';
}

function bodyOf(kind: ScenarioKind, milliseconds: number): object {
  switch (kind) {
    case 'stopped':
    case 'socket':
      return {};
    case 'leaves':
      return { exitAfterSeconds: milliseconds / 1000 };
    case 'mute-leaves':
      return { end: 'leave', milliseconds };
    case 'crashes':
      return { end: 'crash', milliseconds };
    case 'fails':
    case 'mute-fails':
      return { end: 'fail', milliseconds };
  }
}

/** Sends a request to the bot through the session proxy, and then stops the session. */
async function useAndStop(context: ScenarioContext, scenario: Scenario, milliseconds: number): Promise<void> {
  if (milliseconds < 300) return stopSession(context, scenario);
  await delay(milliseconds);
  if (scenario.kind === 'stopped') await checkBotResponds(context, scenario);
  return stopSession(context, scenario);
}

export async function checkBotResponds(context: ScenarioContext, scenario: Scenario): Promise<void> {
  const { service } = context;
  const answer = await retry(
    context,
    'GET',
    `/v1/public/parrot/sessions/${scenario.sessionId}/hello`,
    service.publicKey,
  );
  const body = answer.body as { sessionId?: string } | null;
  if (answer.status !== 200 || body?.sessionId !== scenario.sessionId) {
    scenario.problems.push(`its bot answered ${answer.status} ${JSON.stringify(answer.body)}`);
  }
}

export async function stopSession(context: ScenarioContext, scenario: Scenario): Promise<void> {
  const { service, events } = context;
  scenario.stopAskedAt = Date.now();
  events.emit('ending');
  const path = `/v1/agents/${agentOf(scenario.kind)}/sessions/${scenario.sessionId}`;
  const answer = await retry(context, 'DELETE', path, service.privateKey);
  // A retry gets 404 if the first attempt ended the session.
  if (answer.status !== 200 && !(answer.status === 404 && answer.tries > 1)) {
    scenario.problems.push(`its stopSession was answered ${answer.status} ${JSON.stringify(answer.body)}`);
  }
}

async function retry(context: ScenarioContext, method: string, path: string, key: string) {
  for (let tries = 1; ; tries += 1) {
    await context.service.ready();
    const server = context.service.current().number;
    const answer: ApiResponse | null = await context.service.call(method, path, key);
    if (answer?.status === 503) await delay(pollMs);
    else if (answer !== null) return { ...answer, tries };
    if (answer !== null) continue;
    await context.afterExit(server);
    await context.service.ready(server);
  }
}

/**
 * Runs a WebSocket session. If the server restarts before the client has used its single-use token, the client tries again with
 * the same token.
 */
async function talk(
  context: ScenarioContext,
  scenario: Scenario,
  { wsUrl, token }: StartResponse,
  milliseconds: number,
) {
  for (;;) {
    await context.service.ready();
    const server = context.service.current().number;
    const socket = new WebSocket(`${wsUrl}?token=${token}`);
    socket.on('error', () => undefined);
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    const opened = new Promise<true>((resolve) => socket.once('open', () => resolve(true)));
    const isOpen = await Promise.race([opened, closed.then(() => false)]);
    if (isOpen) {
      await Promise.race([delay(milliseconds), closed]);
      context.events.emit('ending');
      socket.close();
      await closed;
      return;
    }
    await context.afterExit(server);
    await context.service.ready(server);
    const [record] = await context.observer.records([scenario.sessionId ?? '']);
    if (record?.state !== 'waiting') return;
  }
}

export async function waitForSessionEnd(context: ScenarioContext, scenario: Scenario): Promise<void> {
  const { sessionId, kind } = scenario;
  if (sessionId === null) return;
  const begun = Date.now();
  for (;;) {
    const [record] = await context.observer.records([sessionId]);
    if (record === undefined) return void scenario.problems.push('its session is lost');
    if (record.state === 'ended') return;
    const waited = Date.now() - begun;
    if (waited > timeoutMs) return void scenario.problems.push(`it does not end (${record.state})`);
    const isNeverCalled = !context.botEventFile.entries().some((entry) => entry.session === sessionId);
    if (kind.startsWith('mute') && waited > muteMs && isNeverCalled && scenario.stopAskedAt === null) {
      await stopSession(context, scenario);
    }
    await delay(pollMs);
  }
}
