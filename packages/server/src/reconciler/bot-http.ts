import { type ClientRequest, type IncomingHttpHeaders, request } from 'node:http';
import type { InstanceAddress } from '@bothost/runtime';
import { z } from 'zod';
import type { BotAnswer } from './completion.ts';

/** An answer of a bot is read up to this size; more says nothing to the service. */
const answerBytes = 65_536;

type Headers = Readonly<Record<string, string>>;

/**
 * `POST /bot`, which stays open for the whole session (bot contract 2.6): no time-out, a connection of its own with TCP
 * keep-alive. `delivered` resolves when the request was written whole, that is when the bot has the session; it rejects
 * when that never happened. `answer` never rejects.
 */
export function postBot(
  address: InstanceAddress,
  headers: Headers,
  body: string,
): { readonly delivered: Promise<void>; readonly answer: Promise<BotAnswer>; readonly abort: () => void } {
  const sent = request({ ...address, path: '/bot', method: 'POST', agent: false, headers: bodyHeaders(headers, body) });
  sent.on('socket', (socket) => {
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 30_000);
  });
  const delivered = new Promise<void>((resolve, reject) => {
    sent.once('finish', resolve);
    sent.once('error', reject);
  });
  // Whoever waits for the answer learns of a failed delivery from it too.
  delivered.catch(() => undefined);
  const answer = answerOf(sent);
  sent.end(body);
  return { delivered, answer, abort: () => sent.destroy(new Error('given up by the service')) };
}

function bodyHeaders(headers: Headers, body: string): Headers {
  return { ...headers, 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
}

async function answerOf(sent: ClientRequest): Promise<BotAnswer> {
  try {
    const { status, body } = await readAnswer(sent);
    return { kind: 'answered', status, word: wordIn(body) };
  } catch (error) {
    return { kind: 'broken', message: error instanceof Error ? error.message : String(error) };
  }
}

const AnswerBody = z.object({ completionStatus: z.string() });

function wordIn(body: string): string | null {
  try {
    return AnswerBody.parse(JSON.parse(body)).completionStatus;
  } catch {
    return null;
  }
}

/** `GET /_bot/session` of bot contract 2.2; `idle` is ours: the bot has no session yet. */
const BotSession = z.object({
  state: z.enum(['idle', 'running', 'ended']),
  sessionId: z.string().nullish(),
  status: z.number().int().nullish(),
  completionStatus: z.string().nullish(),
  startedAt: z.iso.datetime().nullish(),
  endedAt: z.iso.datetime().nullish(),
});
export type BotSession = z.infer<typeof BotSession>;

/**
 * Asks a bot about its session, waiting up to `waitSeconds` for its end. Null: it has no such route.
 * Rejects when it cannot be reached.
 */
export async function askBot(
  address: InstanceAddress,
  token: string,
  waitSeconds: number,
  signal: AbortSignal,
): Promise<BotSession | null> {
  const sent = request({
    ...address,
    path: `/_bot/session?wait=${waitSeconds}`,
    agent: false,
    signal,
    headers: { authorization: `Bearer ${token}` },
  });
  sent.end();
  const { status, body } = await readAnswer(sent);
  if (status !== 200) return null;
  try {
    return BotSession.parse(JSON.parse(body));
  } catch {
    // Some other program's route of that name.
    return null;
  }
}

/** Asks a bot to end its session by itself (bot contract 2.9). False: it cannot, or has none. Never rejects. */
export async function askToStop(address: InstanceAddress, token: string, graceSeconds: number): Promise<boolean> {
  const body = JSON.stringify({ graceSeconds });
  const headers = bodyHeaders({ authorization: `Bearer ${token}` }, body);
  const signal = AbortSignal.timeout(2_000);
  try {
    const sent = request({ ...address, path: '/_bot/stop', method: 'POST', agent: false, signal, headers });
    sent.end(body);
    return (await readAnswer(sent)).status === 202;
  } catch {
    return false;
  }
}

async function readAnswer(
  sent: ClientRequest,
): Promise<{ status: number; headers: IncomingHttpHeaders; body: string }> {
  return new Promise((resolve, reject) => {
    sent.on('error', reject);
    sent.on('response', (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= answerBytes) chunks.push(chunk);
      });
      response.on('error', reject);
      response.on('end', () => {
        const body = size <= answerBytes ? Buffer.concat(chunks).toString() : '';
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      });
      response.on('close', () => reject(new Error('the answer broke off')));
    });
  });
}
