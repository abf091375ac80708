import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { Socket } from 'node:net';
import { resolve } from 'node:path';
import { addAbortSignal } from 'node:stream';
import type { Context } from '../command-line/context.ts';
import { Failure } from '../failure.ts';
import { readLimited } from '../io/read-limited.ts';

/** How long nothing may come before somebody is told what is waited for, in milliseconds. */
const noticeDelayMs = 2_000;

/** Reads standard input to its end, at most a little over `limit` bytes; says so when it keeps silent. */
export function readInput({ io, messages }: Pick<Context, 'io' | 'messages'>, limit: number): Promise<Uint8Array> {
  if (io.stdin.isTerminal)
    messages.notify('Reading standard input; what you type is visible. Press Ctrl-D on a new line to finish.');
  return withWaitNotice(messages, 'Standard input', io.stdin.readBytes(limit));
}

/**
 * Reads a file or a FIFO once, at most a little over `limit` bytes. A FIFO without a writer is waited for until Ctrl-C, not
 * without a word. Throws a `Failure` that has the system's word, and the path unless something else is told in its place.
 */
export async function readFileBytes(
  { io, messages }: Pick<Context, 'io' | 'messages'>,
  path: string,
  limit: number,
  told: { readonly name: string; readonly hint: string | null } = { name: path, hint: null },
): Promise<Uint8Array> {
  try {
    // Without waiting, since the opening of a FIFO could not be interrupted.
    const file = await open(resolve(io.directory, path), constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const found = await file.stat();
      if (found.isDirectory()) throw unreadableFailure(told, ': it is a folder');
      if (!found.isFIFO()) return await readLimited(file.createReadStream({ autoClose: false }), limit);
      const pipe = new Socket({ fd: file.fd, readable: true, writable: false });
      return await withWaitNotice(messages, path, readLimited(addAbortSignal(io.signal, pipe), limit));
    } finally {
      await file.close().catch(() => {});
    }
  } catch (error) {
    if (error instanceof Failure || io.signal.aborted) throw error;
    throw unreadableFailure(told, error instanceof Error && 'code' in error ? ` (${error.code})` : '');
  }
}

function unreadableFailure(
  { name, hint }: { readonly name: string; readonly hint: string | null },
  why: string,
): Failure {
  return new Failure('file-unreadable', `Cannot read ${name}${why}.`, hint);
}

async function withWaitNotice<T>({ notify }: Context['messages'], source: string, reading: Promise<T>): Promise<T> {
  const timer = setTimeout(
    () => notify(`${source} has not ended yet; waiting. Press Ctrl-C to give up.`),
    noticeDelayMs,
  );
  try {
    return await reading;
  } finally {
    clearTimeout(timer);
  }
}
