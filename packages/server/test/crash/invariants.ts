import type { Entry } from './bot-diary.ts';
import type { SessionRecord } from './observer.ts';
import type { Drive, Kind } from './session-scenario.ts';

/** When a server lived, milliseconds since the epoch; `diedAt` null while it lives. */
export type Lifetime = { readonly bornAt: number; readonly diedAt: number | null };

/** Clocks are read a moment before or after what they date. */
const slackMilliseconds = 50;

/** A bot that cannot be asked is done when it has exited, which it does a moment after its last word. */
const exitMilliseconds = 1_000;

/** The ends that are true of a session whose bot did what its kind says. */
const trueEnds: Readonly<Record<Kind, readonly string[]>> = {
  stopped: ['SESSION_STOPPED'],
  leaves: ['HTTP_COMPLETED'],
  socket: ['WS_CONNECTION_CLOSED'],
  fails: ['500'],
  crashes: ['HTTP_ERROR'],
  'mute-leaves': ['HTTP_COMPLETED'],
  // Its exit says no more than that (bot contract 2.8), and its answer only to the server that waited for it.
  'mute-fails': ['500', 'HTTP_ERROR'],
};

/** All that is not true in the record of a session. `entries` are those of its bot's diary. */
export function untruths(
  drive: Drive,
  record: SessionRecord | undefined,
  entries: readonly Entry[],
  lives: readonly Lifetime[],
): readonly string[] {
  if (record === undefined) return ['its session is lost'];
  const entered = entries.filter(({ what }) => what === 'entered');
  const left = entries.find(({ what }) => what === 'ended');
  return [
    ...ofEnd(drive, record, entered.length),
    ...ofBot(record, entered),
    ...ofTimes(drive, record),
    ...(left === undefined || drive.kind === 'stopped' ? [] : ofLastMoment(record, left.at, lives)),
  ];
}

function ofEnd(drive: Drive, record: SessionRecord, timesEntered: number): string[] {
  const { kind, stopAskedAt } = drive;
  // A bot that cannot be asked is stopped because nobody knows that it still goes on, and may be faster.
  const own = stopAskedAt === null || kind.startsWith('mute') ? trueEnds[kind] : [];
  const expected = stopAskedAt === null ? own : ['SESSION_STOPPED', ...own];
  const status = record.completion_status ?? 'none';
  if (!expected.includes(status)) return [`its end is ${status}, and ${expected.join(' or ')} would be true`];
  const needsBot = status !== 'SESSION_STOPPED' && kind !== 'socket';
  return needsBot && timesEntered === 0 ? [`its end is ${status}, and no bot ever had it`] : [];
}

function ofBot(record: SessionRecord, entered: readonly Entry[]): string[] {
  const others = entered.filter(({ instance }) => instance !== record.instance_id);
  return [
    ...(entered.length > 1 ? [`its bot was called ${entered.length} times`] : []),
    ...(others.length > 0 ? [`another instance was called than its own`] : []),
  ];
}

function ofTimes(drive: Drive, record: SessionRecord): string[] {
  const { created_at, requested_at, bot_started_at, ended_at } = record;
  const inOrder = [created_at, requested_at, bot_started_at, ended_at].filter((time) => time !== null);
  const isOrdered = inOrder.every((time, i) => i === 0 || time >= (inOrder[i - 1] ?? time));
  const created = created_at.getTime();
  const isCreatedInTime =
    created >= drive.askedAt - 1 && (drive.answeredAt === null || created <= drive.answeredAt + 1);
  return [
    ...(isOrdered ? [] : [`its times are out of order: ${inOrder.map((time) => time.toISOString()).join(', ')}`]),
    ...(isCreatedInTime ? [] : ['it was not created when it was asked for']),
    ...(bot_started_at !== null && record.cold_start === null ? ['nobody knows whether it started cold'] : []),
  ];
}

/** A session does not end before its bot was done, and one that nobody attended did not go on until somebody came back. */
function ofLastMoment(record: SessionRecord, leftAt: number, lives: readonly Lifetime[]): string[] {
  const endedAt = record.ended_at?.getTime() ?? 0;
  const problems: string[] = [];
  const isSocket = record.transport === 'websocket';
  if (!isSocket && record.completion_status !== 'SESSION_STOPPED' && endedAt < leftAt - slackMilliseconds) {
    problems.push(`it ended ${leftAt - endedAt} ms before its bot was done`);
  }
  const next = lives.find(({ bornAt }) => bornAt > leftAt);
  const last = lives.findLast(({ bornAt }) => bornAt <= leftAt);
  const wasAlone = last !== undefined && last.diedAt !== null && last.diedAt <= leftAt && next !== undefined;
  const isLate = endedAt > Math.max(next?.bornAt ?? 0, leftAt + exitMilliseconds);
  if (wasAlone && record.completion_status !== 'SESSION_STOPPED' && isLate) {
    problems.push(`its bot was done ${endedAt - leftAt} ms before its end, while no server ran`);
  }
  return problems;
}

/** What is wrong over all sessions: rows that nobody asked for, and instances that had two sessions. */
export function disorder(
  drives: readonly Drive[],
  records: readonly SessionRecord[],
  entries: readonly Entry[],
): readonly string[] {
  const asked = new Set(drives.map(({ sessionId }) => sessionId));
  const sessionsOf = new Map<string, Set<string>>();
  for (const { instance, session } of entries) {
    sessionsOf.set(instance, (sessionsOf.get(instance) ?? new Set()).add(session));
  }
  const shared = [...sessionsOf].filter(([, sessions]) => sessions.size > 1);
  return [
    ...records.filter(({ id }) => !asked.has(id)).map(({ id }) => `nobody asked for session ${id}`),
    ...shared.map(([instance, sessions]) => `instance ${instance} had ${sessions.size} sessions`),
  ];
}
