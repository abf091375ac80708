import type { SessionSummary } from '@bothost/contract';
import {
  findStatusEntry,
  getStatusLabel,
  type SessionEndState,
  sessionEndStateLabels,
} from '@bothost/contract/statuses';
import { formatMilliseconds, formatOptionalCell } from '../output/format.ts';
import type { Cell, TextTone } from '../output/report.ts';

const tones: Readonly<Record<SessionEndState, TextTone | undefined>> = {
  active: 'good',
  completed: undefined,
  ended_before_agent_start: 'warn',
  agent_start_timeout: 'bad',
  terminated: 'warn',
  agent_error: 'bad',
  interrupted: 'bad',
};

/**
 * Returns the label of a session's end state. If the bot responded with an HTTP error, the label contains the HTTP status. The
 * label begins with "Refused" if the bot never accepted the session, for example because the bot has no WebSocket; otherwise it
 * begins with "Error".
 */
export function formatSessionStateCell(
  session: Pick<SessionSummary, 'endState' | 'completionStatus' | 'botStartSeconds'>,
): Cell {
  const { endState, completionStatus, botStartSeconds } = session;
  const tone = findStatusEntry(tones, endState);
  const hasHttpStatus = endState === 'agent_error' && /^\d{3}$/.test(completionStatus ?? '');
  const text = hasHttpStatus
    ? `${botStartSeconds === null ? 'Refused' : 'Error'} (${completionStatus})`
    : getStatusLabel(sessionEndStateLabels, endState);
  return tone === undefined ? text : { text, tone };
}

/** Formats the time from the start request to the bot start: in milliseconds, or above a second in whole seconds. */
export function formatBotStartCell(session: Pick<SessionSummary, 'botStartSeconds' | 'botStartMilliseconds'>): Cell {
  const { botStartSeconds: seconds, botStartMilliseconds: milliseconds } = session;
  if (milliseconds !== null && milliseconds < 1_000) return formatMilliseconds(milliseconds);
  return seconds === null ? formatOptionalCell(null) : `${seconds}s`;
}

export function formatErrorCountCell({ conversation }: Pick<SessionSummary, 'conversation'>): Cell {
  const errors = conversation?.errors;
  return errors === undefined || errors === 0 ? formatOptionalCell(errors) : { text: String(errors), tone: 'bad' };
}

export type StartDurationStatistics = {
  /** Number of sessions whose bot has started. If it is 0, the average and the percentiles are null. */
  readonly started: number;
  readonly averageSeconds: number | null;
  readonly p5Seconds: number | null;
  readonly p95Seconds: number | null;
  /** Share of cold starts among the sessions with a known `coldStart`. Null if no session has one. */
  readonly coldShare: number | null;
};

export function computeStartDurationStatistics(sessions: readonly SessionSummary[]): StartDurationStatistics {
  const seconds = sessions.flatMap(({ botStartSeconds, botStartMilliseconds }) => {
    // A service of version 0.1.0 sends only whole seconds.
    const known = botStartMilliseconds === null ? botStartSeconds : botStartMilliseconds / 1000;
    return known === null ? [] : [known];
  });
  const sorted = seconds.toSorted((a, b) => a - b);
  // Nearest rank.
  const percentile = (percent: number) => sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? null;
  const temperatures = sessions.flatMap(({ coldStart }) => (coldStart === null ? [] : [coldStart]));
  const share = (count: number, of: number) => (of === 0 ? null : count / of);
  return {
    started: seconds.length,
    averageSeconds: share(
      seconds.reduce((sum, value) => sum + value, 0),
      seconds.length,
    ),
    p5Seconds: percentile(5),
    p95Seconds: percentile(95),
    coldShare: share(temperatures.filter(Boolean).length, temperatures.length),
  };
}
