import type { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Random } from '../support/random.ts';
import type { Answer, ServiceProcess } from '../support/service-process.ts';
import type { BotDiary } from './bot-diary.ts';
import type { Observer } from './observer.ts';

/** What one client does with its session, and so what its bot does. */
export const kinds = ['stopped', 'leaves', 'socket', 'fails', 'crashes', 'mute-leaves', 'mute-fails'] as const;
export type Kind = (typeof kinds)[number];

/** One start of one client, and all that the client knows of it. Times are milliseconds since the epoch. */
export type Drive = {
  readonly tag: string;
  readonly kind: Kind;
  askedAt: number;
  /** Null: the answer never came, since the server was killed. */
  answeredAt: number | null;
  /** Null: nothing came of the start. */
  sessionId: string | null;
  stopAskedAt: number | null;
  /** What is wrong in itself, whatever the record says. */
  readonly problems: string[];
};

export type DriveContext = {
  readonly service: ServiceProcess;
  readonly observer: Observer;
  readonly diary: BotDiary;
  readonly random: Random;
  /** `asking` before a start request, `ending` when a session is about to end. */
  readonly events: EventEmitter;
  /** What the database holds after the death of a life, by tag. */
  readonly afterDeath: (life: number) => Promise<ReadonlyMap<string, readonly string[]>>;
};

/** A session that goes on for longer than this after it should have ended is lost. */
const timeoutMilliseconds = 60_000;
/** A bot that was never called, and cannot be asked, is given up by its client after this. */
const muteMilliseconds = 6_000;
const pollMilliseconds = 40;

/** Starts a session, does what its kind says, and waits for its end, whatever is killed meanwhile. */
export async function driveSession(
  context: DriveContext,
  kind: Kind,
  tag: string,
  milliseconds = 100 + context.random.below(1_100),
): Promise<Drive> {
  const { drive, answer } = await begin(context, kind, tag, milliseconds);
  if (drive.sessionId === null) return drive;
  if (kind === 'socket' && answer !== null) await talk(context, drive, answer, milliseconds);
  else if (kind === 'stopped' || kind === 'socket') await useAndStop(context, drive, milliseconds);
  else void delay(milliseconds).then(() => context.events.emit('ending'));
  await ended(context, drive);
  return drive;
}

/** Starts a session and leaves it at that. */
export async function begin(context: DriveContext, kind: Kind, tag: string, milliseconds: number) {
  const drive: Drive = {
    tag,
    kind,
    askedAt: Date.now(),
    answeredAt: null,
    sessionId: null,
    stopAskedAt: null,
    problems: [],
  };
  return { drive, answer: await start(context, drive, milliseconds) };
}

type StartAnswer = { readonly sessionId: string; readonly wsUrl?: string; readonly token?: string };

async function start(context: DriveContext, drive: Drive, milliseconds: number): Promise<StartAnswer | null> {
  const { service, events } = context;
  await service.ready();
  const life = service.current().number;
  drive.askedAt = Date.now();
  events.emit('asking');
  const answer = await service.call('POST', `/v1/public/${agentOf(drive.kind)}/start`, service.publicKey, {
    ...(drive.kind === 'socket' ? { transport: 'websocket' } : {}),
    body: { tag: drive.tag, ...bodyOf(drive.kind, milliseconds) },
  });
  if (answer === null) {
    const [found, ...more] = (await context.afterDeath(life)).get(drive.tag) ?? [];
    if (more.length > 0) drive.problems.push(`one start made ${more.length + 1} sessions`);
    drive.sessionId = found ?? null;
    await service.ready(life);
    return null;
  }
  drive.answeredAt = Date.now();
  if (answer.status !== 200) {
    drive.problems.push(`the start was answered ${answer.status} ${JSON.stringify(answer.body)}`);
    return null;
  }
  const body = answer.body as StartAnswer;
  drive.sessionId = body.sessionId;
  return body;
}

function agentOf(kind: Kind): 'parrot' | 'worker' | 'mute' {
  if (kind === 'fails' || kind === 'crashes') return 'worker';
  return kind === 'mute-leaves' || kind === 'mute-fails' ? 'mute' : 'parrot';
}

function bodyOf(kind: Kind, milliseconds: number): object {
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

/** Talks to the bot through the session proxy, then stops the session. */
async function useAndStop(context: DriveContext, drive: Drive, milliseconds: number): Promise<void> {
  // Some are stopped as soon as they are there.
  if (milliseconds < 300) return stop(context, drive);
  await delay(milliseconds);
  if (drive.kind === 'stopped') await greet(context, drive);
  return stop(context, drive);
}

/** The bot of a session that nobody ended is there and answers, whatever was killed. */
export async function greet(context: DriveContext, drive: Drive): Promise<void> {
  const { service } = context;
  const answer = await insist(context, 'GET', `/v1/public/parrot/sessions/${drive.sessionId}/hello`, service.publicKey);
  const said = answer.body as { sessionId?: string } | null;
  if (answer.status !== 200 || said?.sessionId !== drive.sessionId) {
    drive.problems.push(`its bot answered ${answer.status} ${JSON.stringify(answer.body)}`);
  }
}

export async function stop(context: DriveContext, drive: Drive): Promise<void> {
  const { service, events } = context;
  drive.stopAskedAt = Date.now();
  events.emit('ending');
  const path = `/v1/agents/${agentOf(drive.kind)}/sessions/${drive.sessionId}`;
  const answer = await insist(context, 'DELETE', path, service.privateKey);
  // Not found: it had ended when it was asked again.
  if (answer.status !== 200 && !(answer.status === 404 && answer.tries > 1)) {
    drive.problems.push(`its stop was answered ${answer.status} ${JSON.stringify(answer.body)}`);
  }
}

async function insist(context: DriveContext, method: string, path: string, key: string) {
  for (let tries = 1; ; tries += 1) {
    await context.service.ready();
    const life = context.service.current().number;
    const answer: Answer | null = await context.service.call(method, path, key);
    // The database is away: a clear error, after which a client comes again.
    if (answer?.status === 503) await delay(pollMilliseconds);
    else if (answer !== null) return { ...answer, tries };
    if (answer !== null) continue;
    await context.afterDeath(life);
    await context.service.ready(life);
  }
}

/** The life of a WebSocket session; a client whose token was not used yet comes again after a restart. */
async function talk(context: DriveContext, drive: Drive, { wsUrl, token }: StartAnswer, milliseconds: number) {
  for (;;) {
    await context.service.ready();
    const life = context.service.current().number;
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
    await context.afterDeath(life);
    await context.service.ready(life);
    const [record] = await context.observer.records([drive.sessionId ?? '']);
    if (record?.state !== 'waiting') return;
  }
}

export async function ended(context: DriveContext, drive: Drive): Promise<void> {
  const { sessionId, kind } = drive;
  if (sessionId === null) return;
  const begun = Date.now();
  for (;;) {
    const [record] = await context.observer.records([sessionId]);
    if (record === undefined) return void drive.problems.push('its session is lost');
    if (record.state === 'ended') return;
    const waited = Date.now() - begun;
    if (waited > timeoutMilliseconds) return void drive.problems.push(`it does not end (${record.state})`);
    const isNeverCalled = !context.diary.entries().some((entry) => entry.session === sessionId);
    if (kind.startsWith('mute') && waited > muteMilliseconds && isNeverCalled && drive.stopAskedAt === null) {
      await stop(context, drive);
    }
    await delay(pollMilliseconds);
  }
}
