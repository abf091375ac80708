import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { Socket } from 'node:net';
import { resolve } from 'node:path';
import { addAbortSignal } from 'node:stream';
import type { Context } from '../command-line/context.ts';
import { Failure } from '../failure.ts';
import { readLimited } from '../io/read-limited.ts';

/** How long to wait for input before a notice is printed. */
const noticeDelayMs = 2_000;

/** Reads standard input to its end, at most a little over `limit` bytes. Prints a notice while it waits. */
export function readInput({ io, messages }: Pick<Context, 'io' | 'messages'>, limit: number): Promise<Uint8Array> {
  if (io.stdin.isTerminal)
    messages.notify('Reading standard input; what you type is visible. Press Ctrl-D on a new line to finish.');
  return withWaitNotice(messages, 'standard input', io.stdin.readBytes(limit));
}

/**
 * Reads a file or a FIFO, at most a little over `limit` bytes. Waits for the writer of a FIFO until Ctrl-C, and prints a
 * notice. Throws a `Failure` with the system's error code; `label` replaces the path in messages.
 */
export async function readFileBytes(
  { io, messages }: Pick<Context, 'io' | 'messages'>,
  path: string,
  limit: number,
  label: { readonly name: string; readonly hint: string | null } = { name: path, hint: null },
): Promise<Uint8Array> {
  try {
    // Non-blocking: opening a FIFO could not be interrupted otherwise.
    const file = await open(resolve(io.directory, path), constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const status = await file.stat();
      if (status.isDirectory()) throw unreadableFailure(label, ': it is a folder');
      if (!status.isFIFO()) return await readLimited(file.createReadStream({ autoClose: false }), limit);
      const pipe = new Socket({ fd: file.fd, readable: true, writable: false });
      return await withWaitNotice(messages, path, readLimited(addAbortSignal(io.signal, pipe), limit));
    } finally {
      await file.close().catch(() => {});
    }
  } catch (error) {
    if (error instanceof Failure || io.signal.aborted) throw error;
    throw unreadableFailure(label, error instanceof Error && 'code' in error ? ` (${error.code})` : '');
  }
}

function unreadableFailure(
  { name, hint }: { readonly name: string; readonly hint: string | null },
  why: string,
): Failure {
  return new Failure('file-unreadable', `Cannot read ${name}${why}.`, hint);
}

async function withWaitNotice<T>({ notify }: Context['messages'], source: string, reading: Promise<T>): Promise<T> {
  const timer = setTimeout(() => notify(`Waiting for the end of ${source}. Press Ctrl-C to cancel.`), noticeDelayMs);
  try {
    return await reading;
  } finally {
    clearTimeout(timer);
  }
}
