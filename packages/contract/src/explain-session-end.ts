import type { SessionEventOfThisVersion } from './operations/session-events.ts';
import type { SessionResponse } from './operations/sessions.ts';
import { describeSessionEventCause, findBotFailure, isEventOfThisVersion } from './session-event-cause.ts';
import { getSessionCompletionStatusLabel, isHttpStatus, type SessionEventCode } from './statuses.ts';

/** Why a session failed, and what to do. */
export type SessionEndExplanation = { readonly cause: string; readonly next: string };

type EndedSession = Pick<SessionResponse, 'completionStatus' | 'events' | 'botStartSeconds'>;

const readOutput = "Read the bot's last output, fix the bot and deploy it again.";
const checkVendor =
  'A service that the bot uses was slow, overloaded or could not be reached. Check the status page of its vendor. If there is no ' +
  "outage, check the account's rate limits and read the bot's last output.";

/** Whether an exception type is that of a failed connection, a timeout or an overload of a service, by the names that clients use. */
function isServiceException(type: string): boolean {
  return /[Cc]onnect|Timeout|TimedOut|DeadlineExceeded|RateLimit|TooManyRequests|ResourceExhausted|Overloaded|ServiceUnavailable|InternalServerError/.test(
    type,
  );
}

/** Explains why a session failed or was cut short. Returns null for a session that is active or ended normally. */
export function explainSessionEnd({
  completionStatus: status,
  events,
  botStartSeconds,
}: EndedSession): SessionEndExplanation | null {
  if (status === null) return null;
  if (status === 'SESSION_TIME_LIMIT') {
    return {
      cause: 'The session reached the time limit of its deployment.',
      next: 'If it should last longer, raise max_session_duration in deploy.toml and deploy again.',
    };
  }
  if (status === 'BOT_CONNECTION_TIMEOUT') {
    return {
      cause: `${getSessionCompletionStatusLabel(status)}.`,
      next:
        'Check that the client connects to the address in the start response, with its token. If the session is a phone call, ' +
        'check that the carrier can open WebSockets to the service: a reverse proxy may reject them.',
    };
  }
  if (status === 'BOT_START_TIMEOUT') {
    return {
      cause: `${getSessionCompletionStatusLabel(status)}.`,
      next: "Read the bot's output for what delays the start. If all instances were busy, raise max_agents in deploy.toml.",
    };
  }
  if (status === 'SERVICE_INTERRUPTED') {
    return {
      cause: `${getSessionCompletionStatusLabel(status)}. The bot did not cause this.`,
      next: 'Start the session again. If this happens repeatedly, ask the operator of the service.',
    };
  }
  const failure = events.filter(isEventOfThisVersion).findLast(({ eventCode }) => failureCodes.has(eventCode));
  if (
    failure !== undefined &&
    (status === 'HTTP_ERROR' || failure.eventCode === 'SOCKET_REFUSED' || failure.eventCode === 'BOT_FAILED')
  ) {
    return { cause: describeSessionEventCause(failure), next: nextStep(failure) };
  }
  if (isHttpStatus(status)) {
    const action = botStartSeconds === null ? 'refused the session' : 'failed';
    return { cause: `The bot ${action}: it responded with HTTP status ${status}.`, next: readOutput };
  }
  if (status === 'HTTP_ERROR') return { cause: `${getSessionCompletionStatusLabel(status)}.`, next: readOutput };
  return null;
}

/** Names how a session ended in a few words, such as `Out of memory`. Returns null for an active session. */
export function nameSessionEnd({
  completionStatus: status,
  events,
}: Omit<EndedSession, 'botStartSeconds'>): { readonly name: string; readonly isFailure: boolean } | null {
  if (status === null) return null;
  const name = status === 'HTTP_ERROR' ? nameBotFailure(findBotFailure(events)) : nameException(status, events);
  const isFailure =
    name !== null || isHttpStatus(status) || /^(HTTP_ERROR|SERVICE_INTERRUPTED|BOT_START_TIMEOUT)$/.test(status);
  return { name: name ?? getSessionCompletionStatusLabel(status), isFailure };
}

function nameBotFailure(failure: string | null): string | null {
  if (failure === null) return null;
  if (failure.startsWith('SIG')) return `Crashed: ${failure}`;
  return botFailureNames[failure] ?? `Exited with ${failure.toLowerCase().replace('_', ' ')}`;
}

const botFailureNames: Readonly<Record<string, string>> = {
  START_FAILED: 'The bot did not start',
  DISK_LIMIT: 'Out of disk space',
  OUT_OF_MEMORY: 'Out of memory',
  PLATFORM: 'Ended by the platform',
};

function nameException(status: string, events: EndedSession['events']): string | null {
  const failure = events.filter(isEventOfThisVersion).findLast(({ eventCode }) => eventCode === 'BOT_FAILED');
  const type = failure?.eventCode === 'BOT_FAILED' ? failure.detail.exceptionType : null;
  return type === null || !isHttpStatus(status) ? null : `Raised ${type}`;
}

const failureCodes: ReadonlySet<SessionEventCode> = new Set([
  'INSTANCE_START_FAILED',
  'INSTANCE_EXITED',
  'SOCKET_REFUSED',
  'BOT_FAILED',
]);

function nextStep(failure: SessionEventOfThisVersion): string {
  if (failure.eventCode === 'SOCKET_REFUSED')
    return 'Check that the bot serves a WebSocket at /ws. Bots that use WebRTC need the transport webrtc.';
  if (failure.eventCode === 'BOT_FAILED' && isServiceException(failure.detail.exceptionType ?? '')) return checkVendor;
  if (failure.eventCode !== 'INSTANCE_EXITED') return readOutput;
  if (failure.detail.diskLimit !== undefined) return 'Delete temporary files, or store less on disk, and deploy again.';
  if (failure.detail.outOfMemory)
    return 'Check the memory of the session. If the bot needs it, set a larger agent_profile in deploy.toml and deploy again.';
  if (failure.detail.platformCause !== undefined)
    return 'Start another session. Ask the operator if this happens often.';
  return readOutput;
}
