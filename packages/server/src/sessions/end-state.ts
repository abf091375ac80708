/** SQL expression of a session's `SessionEndState`, which follows from how the session ended and whether its bot had started. */
export const sessionEndStateSql = `case
  when sessions.state <> 'ended' then 'active'
  when completion_status in ('SESSION_STOPPED', 'SESSION_TIME_LIMIT') then 'terminated'
  when completion_status in ('BOT_START_TIMEOUT', 'BOT_CONNECTION_TIMEOUT') then 'agent_start_timeout'
  when completion_status = 'SERVICE_INTERRUPTED' then 'interrupted'
  when completion_status ~ '^[0-9]{3}$' then 'agent_error'
  when bot_started_at is null then 'ended_before_agent_start'
  when completion_status = 'HTTP_ERROR' then 'agent_error'
  else 'completed' end`;

/** SQL condition of the index `sessions_failed`. A session that was stopped, or whose client never connected, has not failed. */
export const sessionFailedSql = `(completion_status in ('HTTP_ERROR', 'SERVICE_INTERRUPTED', 'BOT_START_TIMEOUT')
  or completion_status ~ '^[0-9]{3}$')`;
