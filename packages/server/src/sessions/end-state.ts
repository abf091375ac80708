import type { EndState } from '@bothost/contract';

/**
 * The one word that says where a session stands, for clients that show nothing else (cloud API 5.2, 11.1). The same rule
 * stands in `rows.ts` as SQL, for filters.
 */
export function endStateOf(session: {
  readonly state: string;
  readonly completion_status: string | null;
  readonly bot_started_at: Date | null;
}): EndState {
  const { state, completion_status: status, bot_started_at: startedAt } = session;
  if (state !== 'ended' || status === null) return 'active';
  if (status === 'SESSION_STOPPED' || status === 'SESSION_TIME_LIMIT') return 'terminated';
  if (status === 'BOT_START_TIMEOUT' || status === 'BOT_CONNECTION_TIMEOUT') return 'agent_start_timeout';
  if (startedAt === null && !/^[0-9]{3}$/.test(status)) return 'ended_before_agent_start';
  if (status === 'HTTP_ERROR' || /^[0-9]{3}$/.test(status)) return 'agent_error';
  return 'completed';
}
