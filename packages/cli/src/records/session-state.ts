import type { SessionSummary } from '@bothost/contract';
import { type EndState, endStateLabels, statusLabel } from '@bothost/contract/statuses';
import { percentile } from '../output/format.ts';
import type { Cell, Tone } from '../output/report.ts';

const tones: Readonly<Record<EndState, Tone | undefined>> = {
  active: 'good',
  completed: undefined,
  ended_before_agent_start: 'warn',
  agent_start_timeout: 'bad',
  terminated: 'warn',
  agent_error: 'bad',
};

/**
 * Returns the label of a session's end state. For an error, the label includes the HTTP status of the bot's response. If the bot
 * responded without accepting the session, it refused the session, for example because it has no WebSocket.
 */
export function sessionStateCell(
  session: Pick<SessionSummary, 'endState' | 'completionStatus' | 'botStartSeconds'>,
): Cell {
  const { endState, completionStatus, botStartSeconds } = session;
  const tone = tones[endState];
  const hasHttpStatus = endState === 'agent_error' && /^\d{3}$/.test(completionStatus ?? '');
  const text = hasHttpStatus
    ? `${botStartSeconds === null ? 'Refused' : 'Error'} (${completionStatus})`
    : statusLabel(endStateLabels, endState);
  return tone === undefined ? text : { text, tone };
}

export type StartTotals = {
  /** Number of sessions whose bot has started. The averages, percentiles and shares below are over these sessions only. */
  readonly started: number;
  readonly averageSeconds: number | null;
  readonly p5Seconds: number | null;
  readonly p95Seconds: number | null;
  readonly coldShare: number | null;
};

export function computeStartTotals(sessions: readonly SessionSummary[]): StartTotals {
  const seconds = sessions.flatMap(({ botStartSeconds }) => (botStartSeconds === null ? [] : [botStartSeconds]));
  const temperatures = sessions.flatMap(({ coldStart }) => (coldStart === null ? [] : [coldStart]));
  const share = (count: number, of: number) => (of === 0 ? null : count / of);
  return {
    started: seconds.length,
    averageSeconds: share(
      seconds.reduce((sum, value) => sum + value, 0),
      seconds.length,
    ),
    p5Seconds: percentile(seconds, 5),
    p95Seconds: percentile(seconds, 95),
    coldShare: share(temperatures.filter(Boolean).length, temperatures.length),
  };
}
