import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { Socket } from 'node:net';
import { resolve } from 'node:path';
import { addAbortSignal } from 'node:stream';
import type { CommandContext } from '../command-line/context.ts';
import { Failure, getSystemErrorCode } from '../failure.ts';
import { readLimitedBytes } from '../io/read-limited.ts';

const noticeDelayMs = 2_000;

/** Reads standard input, but stops soon after `limit` bytes. Prints a notice after two seconds of waiting. */
export function readStandardInput(
  { io, messages }: Pick<CommandContext, 'io' | 'messages'>,
  limit: number,
): Promise<Uint8Array> {
  if (io.stdin.isTerminal)
    messages.notify('Reading standard input; what you type is visible. Press Ctrl-D on a new line to finish.');
  return withWaitNotice(messages, 'standard input', io.stdin.readBytes(limit));
}

/**
 * Reads a file or a FIFO, but stops soon after `limit` bytes. Waits for the writer of a FIFO until Ctrl-C. Throws a `Failure`
 * with the system's error code. In messages, `label` replaces the path.
 */
export async function readFileBytes(
  { io, messages }: Pick<CommandContext, 'io' | 'messages'>,
  path: string,
  limit: number,
  label: { readonly name: string; readonly hint: string | null } = { name: path, hint: null },
): Promise<Uint8Array> {
  try {
    // Open the file without blocking, because Ctrl-C cannot interrupt a blocking open of a FIFO.
    const file = await open(resolve(io.directory, path), constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const status = await file.stat();
      if (status.isDirectory())
        throw new Failure('file-unreadable', `${label.name} is a directory, not a file.`, label.hint);
      if (!status.isFIFO()) return await readLimitedBytes(file.createReadStream({ autoClose: false }), limit);
      const pipe = new Socket({ fd: file.fd, readable: true, writable: false });
      return await withWaitNotice(messages, path, readLimitedBytes(addAbortSignal(io.signal, pipe), limit));
    } finally {
      await file.close().catch(() => {});
    }
  } catch (error) {
    if (error instanceof Failure || io.signal.aborted) throw error;
    const errorCode = getSystemErrorCode(error) ?? 'unknown error';
    throw new Failure('file-unreadable', `Cannot read ${label.name} (${errorCode}).`, label.hint, { cause: error });
  }
}

async function withWaitNotice<T>(
  { notify }: CommandContext['messages'],
  source: string,
  reading: Promise<T>,
): Promise<T> {
  const timer = setTimeout(() => notify(`Waiting for the end of ${source}. Press Ctrl-C to cancel.`), noticeDelayMs);
  try {
    return await reading;
  } finally {
    clearTimeout(timer);
  }
}
