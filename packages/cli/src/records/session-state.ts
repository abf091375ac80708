import type { SessionSummary } from '@bothost/contract';
import { percentile } from '../output/format.ts';
import type { Cell } from '../output/report.ts';

/**
 * Words for a session's end state, as existing users know them (cloud API 11.1). An unknown one is a plain end. A bot that
 * answered and did not start has refused, with 200, too: one without WebSockets says so to whoever wants one.
 */
export function sessionState(session: {
  readonly endState: string;
  readonly completionStatus: string | null;
  readonly botStartSeconds: number | null;
}): Cell {
  switch (session.endState) {
    case 'active':
      return { text: 'Active', tone: 'good' };
    case 'completed':
      return 'Complete';
    case 'ended_before_agent_start':
      return { text: 'Ended before start', tone: 'warn' };
    case 'agent_start_timeout':
      return { text: 'Timeout', tone: 'bad' };
    case 'terminated':
      return { text: 'Terminated', tone: 'warn' };
    case 'agent_error': {
      const { completionStatus, botStartSeconds } = session;
      if (completionStatus === null || !/^\d{3}$/.test(completionStatus)) return { text: 'Agent error', tone: 'bad' };
      return { text: `${botStartSeconds === null ? 'Refused' : 'Error'} (${completionStatus})`, tone: 'bad' };
    }
    default:
      return 'Ended';
  }
}

export type StartTotals = {
  /** Sessions whose bot has started; the others have no start time. */
  readonly started: number;
  readonly averageSeconds: number | null;
  readonly p5Seconds: number | null;
  readonly p95Seconds: number | null;
  /** Cold starts among the started, 0 to 1. */
  readonly coldShare: number | null;
};

/** How the bots of these sessions started. Percentiles are nearest rank, as everywhere. */
export function startTotals(sessions: readonly SessionSummary[]): StartTotals {
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
