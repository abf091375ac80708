import { type ClientRequest, type IncomingHttpHeaders, request } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { InstanceAddress } from '@bothost/runtime';
import { z } from 'zod';
import { createRequestOptions, isConnectError } from '../instances/connect.ts';
import type { BotHttpResponse } from './completion.ts';

const responseBytes = 65_536;
/** Time from `leave` until the connection is closed, even if `POST /bot` has not been sent completely. */
const sendTimeoutMs = 5_000;

type Headers = Readonly<Record<string, string>>;

/**
 * Sends `POST /bot` on its own connection. The request stays open for the whole session. `answer` never rejects. `abort` closes
 * the connection at once. `leave` closes the connection after the request has been sent, so that the bot receives the session.
 */
export function postSessionToBot(
  address: InstanceAddress,
  headers: Headers,
  body: string,
): { readonly answer: Promise<BotHttpResponse>; readonly abort: () => void; readonly leave: () => void } {
  const sent = request({
    ...createRequestOptions(address),
    path: '/bot',
    method: 'POST',
    headers: bodyHeaders(headers, body),
  });
  sent.on('socket', (socket) => {
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 30_000);
  });
  const answer = responseOf(sent);
  sent.end(body);
  const abort = () => void sent.destroy(new Error('the service aborted the request'));
  const leave = () => {
    if (sent.writableFinished) return abort();
    sent.once('finish', abort);
    // If the bot hangs, the request may never be sent completely.
    setTimeout(abort, sendTimeoutMs).unref();
  };
  return { answer, abort, leave };
}

/** Lets the event loop connect and then send `POST /bot`: a bot's start takes longest, so other work waits for it. */
export async function yieldToBotRequest(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

function bodyHeaders(headers: Headers, body: string): Headers {
  return { ...headers, 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
}

async function responseOf(sent: ClientRequest): Promise<BotHttpResponse> {
  try {
    const { status, body } = await readResponse(sent);
    const { completionStatus, meetings } = parseResponseBody(body);
    return { kind: 'responded', status, ownStatus: completionStatus, meetings };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return { kind: 'broken', message, isUndelivered: isConnectError(error) };
  }
}

const MeetingPart = z.string().regex(/^[\w-]{1,64}$/);
/** The meetings of a room that the bot joined. Meetings in an unknown form are ignored. */
const Meetings = z
  .array(z.object({ meetingId: MeetingPart, participantId: MeetingPart }))
  .max(20)
  .nullish()
  .catch(null);

const ResponseBody = z.object({
  completionStatus: z.string().nullable().catch(null),
  meetings: Meetings,
});

function parseResponseBody(body: string): z.infer<typeof ResponseBody> {
  try {
    return ResponseBody.parse(JSON.parse(body));
  } catch {
    return { completionStatus: null };
  }
}

/** Response of `GET /_bot/session` (docs/bot-contract.md, "End of a session"). */
const BotSessionState = z.object({
  state: z.enum(['idle', 'running', 'ended']),
  sessionId: z.string().nullish(),
  status: z.number().int().nullish(),
  completionStatus: z.string().nullish(),
  // An exception in an unknown form is ignored.
  exception: z.object({ type: z.string(), message: z.string() }).nullish().catch(null),
  // Transports in an unknown form are ignored.
  transports: z
    .array(z.string().regex(/^[\w-]{1,40}$/))
    .max(20)
    .nullish()
    .catch(null),
  meetings: Meetings,
  startedAt: z.iso.datetime().nullish(),
  endedAt: z.iso.datetime().nullish(),
  /** Undefined if the bot does not report the moments of a session's start. */
  botCalledAt: z.iso.datetime().nullish(),
  transportConnectedAt: z.iso.datetime().nullish(),
  firstFrameAt: z.iso.datetime().nullish(),
});
export type BotSessionState = z.infer<typeof BotSessionState>;

export type BotException = NonNullable<BotSessionState['exception']>;

/** The bot responds when the session ends, or after `waitSeconds`. Null without this route. Rejects if it is unreachable. */
export async function requestSessionState(
  address: InstanceAddress,
  token: string,
  waitSeconds: number,
  signal: AbortSignal,
): Promise<BotSessionState | null> {
  const sent = request({
    ...createRequestOptions(address),
    path: `/_bot/session?wait=${waitSeconds}`,
    signal,
    headers: { authorization: `Bearer ${token}` },
  });
  sent.end();
  const { status, body } = await readResponse(sent);
  if (status !== 200) return null;
  try {
    return BotSessionState.parse(JSON.parse(body));
  } catch {
    // The response is not a session state, so the bot uses this path for an unrelated route.
    return null;
  }
}

/** Asks a bot to stop its session (docs/bot-contract.md, "Stop"). Returns whether it accepted. Never rejects. */
export async function requestSessionStop(
  address: InstanceAddress,
  token: string,
  graceSeconds: number,
): Promise<boolean> {
  const body = JSON.stringify({ graceSeconds });
  const headers = bodyHeaders({ authorization: `Bearer ${token}` }, body);
  const signal = AbortSignal.timeout(2_000);
  try {
    const sent = request({
      ...createRequestOptions(address),
      path: '/_bot/stop',
      method: 'POST',
      signal,
      headers,
    });
    sent.end(body);
    return (await readResponse(sent)).status === 202;
  } catch {
    return false;
  }
}

async function readResponse(
  sent: ClientRequest,
): Promise<{ status: number; headers: IncomingHttpHeaders; body: string }> {
  return new Promise((resolve, reject) => {
    sent.on('error', reject);
    // Without this listener, Node.js closes the connection after a response with status 101, and reports neither a response
    // nor an error.
    sent.on('upgrade', (_response, socket) => {
      socket.destroy();
      reject(new Error('the bot switched to another protocol'));
    });
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= responseBytes) chunks.push(chunk);
      });
      response.on('error', reject);
      response.on('end', () => {
        const body = size <= responseBytes ? Buffer.concat(chunks).toString() : '';
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      });
      response.on('close', () => reject(new Error("the bot's response is incomplete")));
    });
  });
}
