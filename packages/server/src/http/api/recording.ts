import { Readable } from 'node:stream';
import {
  createApiError,
  getObjectFields,
  recordingContinuationParameter,
  recordingMediaType,
  recordingOperation,
} from '@bothost/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Principal } from '../../organizations/authenticate.ts';
import { parseByteRange } from '../requests/byte-range.ts';
import { authorize, type RequestAuthenticationContext } from './caller.ts';

/** A recording as the route needs it. `read` yields the bytes from an offset up to, but without, another one. */
type Target = { readonly agentName: string; readonly sessionId: string };
type Recording = Target & {
  readonly bytes: number;
  readonly read: (from: number, to: number) => AsyncGenerator<Buffer>;
};

export type RecordingPlayer = {
  readonly recordings: {
    /** @throws failure `not-found`, `recording-not-found` */
    readonly open: (caller: Principal, target: Target) => Promise<Recording>;
    /** Called before bytes are sent. `isStart`: the request may begin a playback. */
    readonly audit: (caller: Principal, recording: Recording, isStart: boolean) => Promise<void>;
  };
};

/** Milliseconds without progress after which the client is disconnected. A player that is paused stops to read. */
const idleMs = 600_000;

/** Adds the routes that return the recording of a session, or a range of it. `HEAD` returns only its size. */
export function addRecordingRoutes(
  app: FastifyInstance,
  context: RequestAuthenticationContext & RecordingPlayer,
): void {
  for (const path of recordingOperation.paths) {
    app.get(path.replace(/\{(\w+)\}/g, ':$1'), {
      config: { operation: { audit: recordingOperation.audit } },
      onRequest: (request, reply) => authorize(context, recordingOperation, request, reply),
      handler: (request, reply) => answer(context, request, reply),
    });
  }
}

async function answer({ recordings }: RecordingPlayer, request: FastifyRequest, reply: FastifyReply) {
  const { caller } = request;
  const { agentName, sessionId } = getObjectFields(request.params);
  if (caller === undefined || typeof agentName !== 'string' || typeof sessionId !== 'string')
    throw new Error('Authorization did not set the caller of the request.');
  if (agentName.includes('\0')) throw createApiError('not-found');
  const recording = await recordings.open(caller, { agentName, sessionId });
  const { bytes, read } = recording;
  const isHead = request.method === 'HEAD';
  const range = parseByteRange(isHead ? undefined : request.headers.range, bytes);
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${bytes}`);
    throw createApiError('range-not-satisfiable');
  }
  const { from, to } = range === 'all' ? { from: 0, to: bytes } : range;
  const isContinuation = recordingContinuationParameter in getObjectFields(request.query);
  if (!isHead) await recordings.audit(caller, recording, from === 0 && !isContinuation);
  reply.raw.setTimeout(idleMs, () => reply.raw.destroy());
  if (range !== 'all') reply.code(206).header('content-range', `bytes ${from}-${to - 1}/${bytes}`);
  return reply
    .type(recordingMediaType)
    .headers({
      'accept-ranges': 'bytes',
      'cache-control': 'no-store',
      'content-length': to - from,
      'content-disposition': `inline; filename="${recording.sessionId}.ogg"`,
      // The bot decides what the bytes are, so no browser may take them for a page.
      'content-security-policy': "default-src 'none'; sandbox",
      'x-content-type-options': 'nosniff',
    })
    .send(isHead ? Readable.from([]) : Readable.from(read(from, to), { objectMode: false }));
}
