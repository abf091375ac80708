import { getSessionCompletionStatusLabel, type SessionResponse, socketTokenLifetimeSeconds } from '@bothost/contract';

/** Why a session failed, and what to do. */
export type SessionEndExplanation = { readonly cause: string; readonly next: string };

type EndedSession = Pick<SessionResponse, 'completionStatus' | 'events' | 'botStartSeconds'>;

const readOutput = 'Read the last output below, fix the bot and deploy it again.';

/** Explains why a session failed or was cut short. Returns null for a session that is active or ended normally. */
export function explainSessionEnd({
  completionStatus: status,
  events,
  botStartSeconds,
}: EndedSession): SessionEndExplanation | null {
  const detailOf = (code: string) => events.findLast(({ eventCode }) => eventCode === code)?.detail;
  if (status === null) return null;
  if (status === 'SESSION_TIME_LIMIT') {
    return {
      cause: 'The session reached the time limit of its deployment.',
      next: 'If it should last longer, raise max_session_duration in deploy.toml and deploy again.',
    };
  }
  if (status === 'BOT_CONNECTION_TIMEOUT') {
    return {
      cause: `No client connected within ${socketTokenLifetimeSeconds / 60} minutes.`,
      next: 'Check that the client connects to the wsUrl of the start response, with its token.',
    };
  }
  if (status === 'BOT_START_TIMEOUT') {
    return {
      cause: 'No bot became ready and accepted the session in time.',
      next: 'Read the output below for what delays the start. If all instances were busy, raise max_agents in deploy.toml.',
    };
  }
  const refused = detailOf('SOCKET_REFUSED');
  if (refused != null) {
    return {
      cause: `The bot refused the WebSocket with HTTP status ${refused['status']}.`,
      next: 'Check that the bot serves a WebSocket at /ws. Bots that use WebRTC need the transport webrtc.',
    };
  }
  const startFailure = detailOf('INSTANCE_START_FAILED')?.['cause'];
  if (typeof startFailure === 'string') return { cause: `The bot did not start: ${startFailure}.`, next: readOutput };
  const exit = detailOf('INSTANCE_EXITED');
  if (status === 'HTTP_ERROR' && exit != null) return explainExit(exit);
  if (/^[45]\d{2}$/.test(status)) {
    const action = botStartSeconds === null ? 'refused the session' : 'failed';
    return { cause: `The bot ${action}: it responded with HTTP status ${status}.`, next: readOutput };
  }
  if (status === 'HTTP_ERROR') return { cause: `${getSessionCompletionStatusLabel(status)}.`, next: readOutput };
  return null;
}

function explainExit(exit: NonNullable<SessionResponse['events'][number]['detail']>): SessionEndExplanation {
  if (exit['outOfMemory'] === true) {
    return {
      cause: 'The bot used more memory than its profile allows, and was killed.',
      next: 'Look at the memory below. If the bot needs it, set a larger agent_profile in deploy.toml and deploy again.',
    };
  }
  if (exit['diskLimit'] === true) {
    return {
      cause: 'The bot used more disk space than it may, and was killed.',
      next: 'Delete temporary files, or store less on disk, and deploy again.',
    };
  }
  if (typeof exit['signal'] === 'string') {
    return { cause: `The bot was killed by the signal ${exit['signal']}.`, next: readOutput };
  }
  if (typeof exit['code'] === 'number') {
    return { cause: `The bot exited with status ${exit['code']} during the session.`, next: readOutput };
  }
  return { cause: 'The bot exited during the session. Its exit status is unknown.', next: readOutput };
}
