import type { SessionsTable } from '../../src/store/tables.ts';
import type { BotEvent } from './bot-event-file.ts';

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

export type SessionRecord = Omit<SessionsTable, 'events'> & {
  readonly agent: string;
  readonly instance_id: string | null;
  readonly sample_count: number | null;
  /** The runtime of the instance's host. Null if the session has no instance. */
  readonly runtime: string | null;
};

/** A period in which the test killed bots, in milliseconds since the epoch. `to` is infinite while it lasts. */
export type BotKillPeriod = { readonly from: number; to: number };

/**
 * Start and exit of one server process, as timestamps in milliseconds since the epoch. `exitedAt` is null while the process
 * runs.
 */
export type ServerLifetime = { readonly startedAt: number; readonly exitedAt: number | null };

/** Tolerance in milliseconds between a timestamp and the event that it dates. */
const slackMs = 50;

/**
 * Upper bound in milliseconds for the time from the last event that a mute test bot writes to its event file until the bot
 * exits. A mute bot does not report the end of its session to the server, so the session ends only when the bot exits.
 */
const exitMs = 1_000;
/** Kubernetes states the time of an exit in whole seconds, and the service takes the latest time that this can mean. */
const kubernetesRoundingMs = 999;
/** Upper bound in milliseconds from the end of a `BotKillPeriod` until its bots are dead. */
const killMs = 5_000;

const validEnds: Readonly<Record<ScenarioKind, readonly string[]>> = {
  stopped: ['SESSION_STOPPED'],
  leaves: ['HTTP_COMPLETED'],
  socket: ['WS_CONNECTION_CLOSED', 'SERVICE_INTERRUPTED'],
  fails: ['500'],
  crashes: ['HTTP_ERROR'],
  'mute-leaves': ['HTTP_COMPLETED'],
  // Only the server that dispatched the session receives the status of the bot's response. A server that starts later sees only
  // that the bot exited.
  'mute-fails': ['500', 'HTTP_ERROR'],
};

/**
 * Checks one session's record against its scenario and its bot's event file `entries`; returns the violated invariants. In the
 * periods `botKills`, the test killed bots.
 */
export function findViolations(
  scenario: Scenario,
  record: SessionRecord | undefined,
  entries: readonly BotEvent[],
  processes: readonly ServerLifetime[],
  botKills: readonly BotKillPeriod[] = [],
): readonly string[] {
  if (record === undefined) return ['its session is lost'];
  const entered = entries.filter(({ what }) => what === 'entered');
  const left = entries.find(({ what }) => what === 'ended');
  // The deletion of a pod sends SIGTERM, after which the parrot, the bot of `stopped` sessions, answers 200.
  const completes = record.runtime === 'kubernetes' && scenario.kind === 'stopped' && entered.length > 0;
  const killedEnds = completes ? ['HTTP_ERROR', 'HTTP_COMPLETED'] : ['HTTP_ERROR'];
  const diedWithBot = killedEnds.includes(record.completion_status ?? '') && mayBeKilled(record, botKills);
  return [
    ...(diedWithBot ? [] : checkEnd(scenario, record, entered.length)),
    ...checkBot(record, entered),
    ...checkTimes(scenario, record),
    ...checkInterruption(record, processes),
    ...(left === undefined || scenario.kind === 'stopped' ? [] : checkEndedWithBot(record, left.at, processes)),
  ];
}

function checkEnd(scenario: Scenario, record: SessionRecord, timesEntered: number): string[] {
  const { kind, stopAskedAt } = scenario;
  // A `mute` bot does not report the state of its session to the service. The client stops such a session if it has not seen a
  // call of the bot for some time. The bot may nevertheless end the session before the stop request takes effect, so both
  // completion statuses are valid.
  const own = stopAskedAt === null || kind.startsWith('mute') ? validEnds[kind] : [];
  const expected = stopAskedAt === null ? own : ['SESSION_STOPPED', ...own];
  const status = record.completion_status ?? 'none';
  if (!expected.includes(status)) return [`it ended with ${status} instead of ${expected.join(' or ')}`];
  const needsBot = status !== 'SESSION_STOPPED' && kind !== 'socket';
  return needsBot && timesEntered === 0 ? [`it ended with ${status}, but no bot was called`] : [];
}

/** Whether the test killed bots during the session. */
function mayBeKilled(record: SessionRecord, botKills: readonly BotKillPeriod[]): boolean {
  const [createdAt, endedAt] = [record.created_at.getTime(), record.ended_at?.getTime() ?? 0];
  return botKills.some(({ from, to }) => to >= createdAt - killMs && from <= endedAt + slackMs);
}

function checkBot(record: SessionRecord, entered: readonly BotEvent[]): string[] {
  const others = entered.filter(({ instance }) => instance !== record.instance_id);
  return [
    ...(entered.length > 1 ? [`its bot was called ${entered.length} times`] : []),
    ...(others.length > 0 ? ['the bot of another instance was called'] : []),
  ];
}

function checkTimes(scenario: Scenario, record: SessionRecord): string[] {
  const { created_at, requested_at, bot_started_at, ended_at } = record;
  const inOrder = [created_at, requested_at, bot_started_at, ended_at].filter((time) => time !== null);
  const isOrdered = inOrder.every((time, i) => i === 0 || time >= (inOrder[i - 1] ?? time));
  const created = created_at.getTime();
  const isCreatedInTime =
    created >= scenario.askedAt - 1 && (scenario.answeredAt === null || created <= scenario.answeredAt + 1);
  return [
    ...(isOrdered ? [] : [`its times are out of order: ${inOrder.map((time) => time.toISOString()).join(', ')}`]),
    ...(isCreatedInTime ? [] : ['it was not created between its request and the response']),
    ...(bot_started_at !== null && record.cold_start === null ? ['it does not say whether it started cold'] : []),
  ];
}

/** A session can be interrupted only by the end of a server that ran during the session. */
function checkInterruption(record: SessionRecord, processes: readonly ServerLifetime[]): string[] {
  if (record.completion_status !== 'SERVICE_INTERRUPTED') return [];
  const isExplained = processes.some(({ exitedAt }) => exitedAt !== null && exitedAt >= record.created_at.getTime());
  return isExplained ? [] : ['it was interrupted, but no server exited'];
}

/**
 * A session ends no earlier than its bot. If the bot ends while no server runs, the session ends no later than the
 * start of the next server.
 */
function checkEndedWithBot(record: SessionRecord, leftAt: number, processes: readonly ServerLifetime[]): string[] {
  const endedAt = record.ended_at?.getTime() ?? 0;
  const problems: string[] = [];
  const isSocket = record.transport === 'websocket';
  if (!isSocket && record.completion_status !== 'SESSION_STOPPED' && endedAt < leftAt - slackMs) {
    problems.push(`it ended ${leftAt - endedAt} ms before its bot was done`);
  }
  const next = processes.find(({ startedAt }) => startedAt > leftAt);
  const last = processes.findLast(({ startedAt }) => startedAt <= leftAt);
  const wasAlone = last !== undefined && last.exitedAt !== null && last.exitedAt <= leftAt && next !== undefined;
  const latestExitAt = leftAt + exitMs + (record.runtime === 'kubernetes' ? kubernetesRoundingMs : 0);
  const isLate = endedAt > Math.max(next?.startedAt ?? 0, latestExitAt);
  if (wasAlone && record.completion_status !== 'SESSION_STOPPED' && isLate) {
    problems.push(`its bot was done ${endedAt - leftAt} ms before its end, while no server ran`);
  }
  return problems;
}

/** Invariants across sessions: every session was requested, and no instance served two sessions. */
export function findCrossSessionViolations(
  scenarios: readonly Scenario[],
  records: readonly SessionRecord[],
  entries: readonly BotEvent[],
): readonly string[] {
  const asked = new Set(scenarios.map(({ sessionId }) => sessionId));
  const sessionsOf = new Map<string, Set<string>>();
  for (const { instance, session } of entries) {
    sessionsOf.set(instance, (sessionsOf.get(instance) ?? new Set()).add(session));
  }
  const shared = [...sessionsOf].filter(([, sessions]) => sessions.size > 1);
  return [
    ...records.filter(({ id }) => !asked.has(id)).map(({ id }) => `session ${id} was not requested`),
    ...shared.map(([instance, sessions]) => `instance ${instance} had ${sessions.size} sessions`),
  ];
}
