// This file does not import zod, so that `botcli --help` starts quickly.

import type { SessionEvent, SessionEventOfThisVersion } from './operations/session-events.ts';
import { sessionEventLabels } from './statuses.ts';

/** Whether this version knows the code of an event, and so the fields of its detail. */
export function isEventOfThisVersion(event: SessionEvent): event is SessionEventOfThisVersion {
  return Object.hasOwn(sessionEventLabels, event.eventCode);
}

/** Describes the cause of an event, without the last output of the bot. */
export function describeSessionEventCause(event: SessionEvent): string {
  if (!isEventOfThisVersion(event)) return describeUnknownDetail(event.detail);
  switch (event.eventCode) {
    case 'INSTANCE_START_FAILED':
    case 'INSTANCE_REPLACED':
      return event.detail.cause;
    case 'INSTANCE_EXITED':
      return describeExit(event.detail);
    case 'INSTANCE_LISTENS_WIDE':
    case 'INSTANCE_CPU_LIMIT_NOT_ENFORCED':
    case 'INSTANCE_MEMORY_LIMIT_SAMPLED':
    case 'INSTANCE_OUTPUT_DROPPED':
    case 'INSTANCE_PULLING':
    case 'INSTANCE_WAITING':
      return event.detail.detail;
    case 'SOCKET_REFUSED': {
      const response = `${event.detail.status} ${event.detail.phrase}`.trim();
      return `The bot responded ${response} instead of opening a WebSocket.`;
    }
    case 'BOT_FAILED': {
      const { status, exceptionType, exceptionMessage } = event.detail;
      if (exceptionType === null) return `The bot failed with status ${status}.`;
      return `The bot raised ${exceptionMessage ? `${exceptionType}: ${exceptionMessage}` : exceptionType}.`;
    }
  }
}

function describeUnknownDetail(detail: SessionEvent['detail']): string {
  return Object.entries(detail ?? {})
    .filter(([name, value]) => value !== null && name !== 'tail')
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ');
}

type ExitDetail = Extract<SessionEventOfThisVersion, { eventCode: 'INSTANCE_EXITED' }>['detail'];

function describeExit({ code, signal, outOfMemory, diskLimit, platformCause }: ExitDetail): string {
  if (diskLimit !== undefined) return `The bot was killed for its disk usage. ${diskLimit}`;
  if (outOfMemory) return 'The bot used more memory than its profile allows, and was killed.';
  if (platformCause !== undefined) return `The platform ended the bot. ${platformCause}`;
  if (signal !== null) return `The bot was killed by the signal ${signal}.`;
  if (code !== null) return `The bot exited with status ${code}.`;
  return 'The bot exited. Its exit status is unknown.';
}

/** How a bot failed without an exception: a signal such as `SIGSEGV`, `STATUS_3` for an exit status, or another of these words. */
export function findBotFailure(events: readonly SessionEvent[]): string | null {
  const failure = events
    .filter(isEventOfThisVersion)
    .findLast(({ eventCode }) => eventCode === 'INSTANCE_EXITED' || eventCode === 'INSTANCE_START_FAILED');
  if (failure?.eventCode === 'INSTANCE_START_FAILED') return 'START_FAILED';
  if (failure?.eventCode !== 'INSTANCE_EXITED') return null;
  const { code, signal, outOfMemory, diskLimit, platformCause } = failure.detail;
  if (diskLimit !== undefined) return 'DISK_LIMIT';
  if (outOfMemory) return 'OUT_OF_MEMORY';
  if (platformCause !== undefined) return 'PLATFORM';
  return signal ?? (code === null ? null : `STATUS_${code}`);
}

/** Returns the last output of the bot that an event contains, without trailing white space. Returns null if there is none. */
export function readLastOutput({ detail }: SessionEvent): string | null {
  const tail = detail !== null && 'tail' in detail && typeof detail.tail === 'string' ? detail.tail.trimEnd() : '';
  return tail === '' ? null : tail;
}
