import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { WebSocket } from 'ws';
import { noConversationFile, openConversationFile } from './conversation-file.ts';
import { type ConversationRecorder, createConversationRecorder } from './conversation-recorder.ts';
import {
  type JsonObject,
  parseJsonObject,
  RequestError,
  readJsonObject,
  readNumberField,
  sendJson,
} from './http-exchange.ts';
import type { Session, SessionSlot } from './session.ts';
import { runTransportlessBot } from './transportless-bot.ts';

export type ParrotContext = {
  readonly slot: SessionSlot;
  readonly log: (line: string) => void;
  /** Path of the file to which conversations are appended, if the service has named one. */
  readonly conversationFile?: string | undefined;
  readonly newSessionId: () => string;
  /** The time in milliseconds since the epoch, with a fraction. */
  readonly preciseNow: () => number;
  /** A signal that aborts when the process shuts down; the running session then ends. */
  readonly closing: AbortSignal;
};

const plainBodyBytes = 1_048_576;
const longestPollSeconds = 300;
/** The maximum delay of `setTimeout`, in seconds. */
const longestTimerSeconds = 2_147_483;

/** `POST /bot`: starts a session, and responds when the session ends (docs/bot-contract.md, "Start"). */
export async function runBot(
  context: ParrotContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const enteredAtMs = context.preciseNow();
  const transport = header(request.headers, 'x-transport-type', 'x-daily-transport-type');
  if (transport !== undefined) {
    throw new RequestError(
      501,
      `The parrot does not support the transport ${transport}. Start it without a transport or over a WebSocket.`,
    );
  }
  const body = await readJsonObject(request, plainBodyBytes);
  const bot = plainBotOf(body);
  const session = startSession(context, request.headers, enteredAtMs);
  context.log(`session ${session.id} started`);
  await runTransportlessBot({ ...bot, signal: session.signal, log: context.log });
  const completionStatus = completionStatusOf(session);
  session.finish({ status: 200, ...completionStatus });
  context.log(`session ${session.id} ended`);
  sendJson(response, 200, completionStatus);
}

/** Decodes the start body of a WebSocket session from the base64-encoded JSON in `?body=`. */
export function decodeStartBodyFromQuery(url: URL): JsonObject {
  const encoded = url.searchParams.get('body');
  // A query parser would turn an unescaped + into a space.
  return encoded ? parseJsonObject(Buffer.from(encoded.replaceAll(' ', '+'), 'base64').toString('utf8')) : {};
}

/**
 * Creates the recorder of a session's conversation. It writes nothing if the service has named no file, or no level other than
 * `off`.
 */
export function createSessionRecorder(
  { conversationFile, preciseNow, log }: ParrotContext,
  headers: IncomingHttpHeaders,
  session: Session,
): ConversationRecorder {
  const asked = header(headers, 'bothost-conversation-level') ?? 'off';
  // The parrot does not implement rules of redaction, so it writes no text that they may match.
  const level = header(headers, 'bothost-conversation-redact') === undefined || asked === 'off' ? asked : 'timings';
  const file =
    conversationFile === undefined || level === 'off'
      ? noConversationFile
      : openConversationFile(conversationFile, log);
  return createConversationRecorder({ file, level, startedAtMs: session.enteredAtMs, now: preciseNow });
}

/** Ends a session when its socket closes, and closes the socket when the session ends. */
export async function bindSessionToSocket(
  session: Session,
  socket: WebSocket,
  recorder: ConversationRecorder,
): Promise<void> {
  const closed = new Promise((resolve) => socket.once('close', resolve));
  session.signal.addEventListener('abort', () => socket.close(1000, String(session.signal.reason)), { once: true });
  if (session.signal.aborted) socket.close(1000);
  await closed;
  const { aborted, reason } = session.signal;
  recorder.end(aborted ? String(reason).replace(' ', '-') : 'client-disconnected');
  session.finish(completionStatusOf(session));
}

/** `POST /_bot/stop {graceSeconds}`: asks the running session to end (docs/bot-contract.md, "Stop"). */
export async function stopBot(
  context: ParrotContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readJsonObject(request, 4096);
  const graceSeconds = readNumberField(body, 'graceSeconds', { min: 0, max: longestTimerSeconds, fallback: 0 });
  const session = context.slot.running();
  if (session === undefined) throw new RequestError(409, 'No session is running');
  context.log(`stop requested, with a grace period of ${graceSeconds} s`);
  session.end('stopped');
  sendJson(response, 202, {});
}

/**
 * `GET /_bot/session?wait=SECONDS`: returns the state of the session. With `wait`, responds when the session ends, or after this
 * number of seconds.
 */
export async function respondWithSessionState(
  context: ParrotContext,
  url: URL,
  response: ServerResponse,
): Promise<void> {
  const query = { wait: Number(url.searchParams.get('wait') ?? 0) };
  const wait = Math.min(
    longestPollSeconds,
    readNumberField(query, 'wait', { min: 0, max: longestTimerSeconds, fallback: 0 }),
  );
  if (wait > 0 && context.slot.running() !== undefined) {
    const waiting = new AbortController();
    response.once('close', () => waiting.abort());
    const signal = AbortSignal.any([waiting.signal, context.closing]);
    await Promise.race([context.slot.ended(), setTimeout(wait * 1000, undefined, { signal }).catch(() => {})]);
    waiting.abort();
  }
  sendJson(response, 200, context.slot.report());
}

/**
 * Starts a session with the id and time limit from the request headers. Throws `RequestError` 409 if a session is already
 * running.
 */
export function startSession(context: ParrotContext, headers: IncomingHttpHeaders, enteredAtMs: number): Session {
  const seconds = Number(header(headers, 'x-max-session-seconds', 'x-pcc-max-session-seconds'));
  const session = context.slot.start({
    id: header(headers, 'x-session-id', 'x-daily-session-id') ?? context.newSessionId(),
    enteredAtMs,
    maxSeconds: seconds > 0 && seconds <= longestTimerSeconds ? seconds : undefined,
  });
  if (session === undefined) throw alreadyRunning();
  return session;
}

/** Throws `RequestError` 409 if a session is running. */
export function requireNoRunningSession(context: ParrotContext): void {
  if (context.slot.running() !== undefined) throw alreadyRunning();
}

function alreadyRunning(): RequestError {
  return new RequestError(409, 'A session is already running');
}

function plainBotOf(body: JsonObject): { say: string | undefined; exitAfterSeconds: number | undefined } {
  const say = body['say'];
  return {
    say: typeof say === 'string' ? say : undefined,
    exitAfterSeconds:
      body['exitAfterSeconds'] === undefined
        ? undefined
        : readNumberField(body, 'exitAfterSeconds', { min: 0, max: longestTimerSeconds, fallback: 0 }),
  };
}

/**
 * Returns a completion status only for a session that ended at its time limit, because the service knows why all other sessions
 * ended.
 */
function completionStatusOf(session: Session): { completionStatus?: string } {
  return session.signal.reason === 'time limit' ? { completionStatus: 'SESSION_TIME_LIMIT' } : {};
}

function header(headers: IncomingHttpHeaders, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return undefined;
}
