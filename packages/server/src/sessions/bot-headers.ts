import type { Carrier } from '@bothost/contract';

/**
 * The headers that tell a bot which session it serves (bot contract 2.3). Both names are sent: images of the reference
 * read only the first.
 */
export function sessionHeaders(sessionId: string): Record<string, string> {
  return { 'x-daily-session-id': sessionId, 'x-session-id': sessionId };
}

/** Beside them, on the request that starts the session. */
export function startHeaders(session: {
  readonly id: string;
  readonly transport: 'none' | 'webrtc' | 'websocket' | Carrier;
  readonly maxSeconds: number;
  readonly controlToken: string;
}): Record<string, string> {
  const { transport } = session;
  const transportHeaders =
    transport === 'none' ? {} : { 'x-daily-transport-type': transport, 'x-transport-type': transport };
  return {
    ...sessionHeaders(session.id),
    ...transportHeaders,
    'x-pcc-max-session-seconds': String(session.maxSeconds),
    'x-max-session-seconds': String(session.maxSeconds),
    'x-bot-control-token': session.controlToken,
  };
}

/**
 * Names that only the service may set (bot contract 2.3): removed from whatever a client sends, on upgrades too.
 * Lower case. Some servers of bots take `_` for `-`.
 */
export function isServiceHeader(name: string): boolean {
  const hyphenated = name.replaceAll('_', '-');
  return servicePrefixes.some((prefix) => hyphenated.startsWith(prefix));
}

const servicePrefixes = [
  'x-daily-',
  'x-pcc-',
  'x-moq-',
  'x-bot-',
  'x-session-',
  'x-transport-',
  'x-max-session-',
] as const;
