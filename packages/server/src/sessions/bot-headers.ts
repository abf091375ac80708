import {
  type ConversationLevel,
  conversationLevelHeader,
  conversationRedactionHeader,
  hasConversationText,
  type IceServer,
  iceServersHeader,
  type PhoneCarrier,
} from '@bothost/contract';
import type { SessionTransport } from '../store/tables.ts';

/** Returns the session id in two headers, because some existing bot images read only `x-daily-session-id`. */
export function createSessionHeaders(sessionId: string): Record<string, string> {
  return { 'x-daily-session-id': sessionId, 'x-session-id': sessionId };
}

/** Additional headers of the request that starts the session in a bot. */
export function createStartHeaders(session: {
  readonly id: string;
  readonly transport: SessionTransport | PhoneCarrier;
  readonly maxSeconds: number;
  readonly conversationLevel: ConversationLevel;
  readonly conversationRedact: readonly string[];
  readonly controlToken: string;
  /** Absent for a transport without WebRTC. */
  readonly iceServers?: readonly IceServer[];
}): Record<string, string> {
  const { transport } = session;
  const hasRedaction = hasConversationText(session.conversationLevel) && session.conversationRedact.length > 0;
  const transportHeaders =
    transport === 'none' ? {} : { 'x-daily-transport-type': transport, 'x-transport-type': transport };
  return {
    ...createSessionHeaders(session.id),
    ...transportHeaders,
    'x-pcc-max-session-seconds': String(session.maxSeconds),
    'x-max-session-seconds': String(session.maxSeconds),
    [conversationLevelHeader]: session.conversationLevel,
    ...(hasRedaction ? { [conversationRedactionHeader]: toAsciiJson(session.conversationRedact) } : {}),
    'x-bot-control-token': session.controlToken,
    ...(session.iceServers === undefined ? {} : { [iceServersHeader]: toAsciiJson(session.iceServers) }),
  };
}

function toAsciiJson(value: unknown): string {
  const escapeUnit = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value).replace(/[^\x20-\x7e]/g, escapeUnit);
}

/** Reserved headers are removed from client requests. `name` is in lower case. Treats `_` like `-`, as some bot servers do. */
export function isReservedHeader(name: string): boolean {
  const hyphenated = name.replaceAll('_', '-');
  return reservedPrefixes.some((prefix) => hyphenated.startsWith(prefix));
}

const reservedPrefixes = [
  'x-daily-',
  'x-pcc-',
  'x-moq-',
  'x-bot-',
  'x-session-',
  'x-transport-',
  'x-max-session-',
  'bothost-',
] as const;
