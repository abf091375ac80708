import { type FileHandle, open } from 'node:fs/promises';
import type { Cursor, LogLine } from '../runtime.ts';
import type { InstanceFiles } from './instance-record.ts';
import type { Output } from './output.ts';
import { markCovering, readMarks } from './output-marks.ts';

const CHUNK_BYTES = 64 * 1024;
/** A longer line is handed out in parts, so that a bot that never breaks a line cannot fill the server. */
const LINE_BYTES = 16 * 1024;
const NEWLINE = 10;

/**
 * Lines of an output file from an offset on, and those that come, until the instance has ended. A last line without a
 * break is handed out at the end.
 */
export async function* readLog(
  files: InstanceFiles,
  output: Output,
  from: Cursor,
  now: () => Date,
  signal: AbortSignal,
): AsyncGenerator<LogLine> {
  let file: FileHandle;
  try {
    file = await open(files.output, 'r');
  } catch {
    return;
  }
  try {
    let cursor = from;
    let rest: Buffer<ArrayBufferLike> = Buffer.alloc(0);
    while (!signal.aborted) {
      const changed = output.changed();
      const finished = output.isFinished();
      if (cursor + rest.length < output.base()) {
        cursor = output.base();
        rest = Buffer.alloc(0);
      }
      const { bytesRead, buffer } = await file.read({
        buffer: Buffer.allocUnsafe(CHUNK_BYTES),
        position: cursor + rest.length - output.base(),
      });
      if (bytesRead === 0 && !finished) {
        await untilEither(changed, signal);
        continue;
      }
      const split = splitLines(Buffer.concat([rest, buffer.subarray(0, bytesRead)]), bytesRead === 0);
      const marks = split.lines.length === 0 ? [] : readMarks(files.marks);
      for (const line of split.lines) {
        const mark = markCovering(marks, cursor + line.length);
        const text = line.toString('utf8').replace(/\r?\n$/, '');
        yield { cursor, at: mark?.at ?? now(), unattended: mark?.unattended ?? false, text };
        if (signal.aborted) return;
        cursor += line.length;
      }
      rest = split.rest;
      if (bytesRead === 0) return;
    }
  } finally {
    await file.close();
  }
}

/** Lines with their breaks, and what remains without one. Pure. */
export function splitLines(
  bytes: Buffer,
  isLast: boolean,
): { readonly lines: readonly Buffer[]; readonly rest: Buffer<ArrayBufferLike> } {
  const lines: Buffer[] = [];
  let from = 0;
  for (;;) {
    const newline = bytes.indexOf(NEWLINE, from);
    const end = newline === -1 ? bytes.length : newline + 1;
    if (end - from > LINE_BYTES) {
      lines.push(bytes.subarray(from, from + LINE_BYTES));
      from += LINE_BYTES;
    } else if (newline === -1) {
      if (!isLast || from === bytes.length) return { lines, rest: bytes.subarray(from) };
      lines.push(bytes.subarray(from));
      from = bytes.length;
    } else {
      lines.push(bytes.subarray(from, end));
      from = end;
    }
  }
}

async function untilEither(changed: Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  let onAbort = () => {};
  const aborted = new Promise<void>((resolve) => {
    onAbort = resolve;
    signal.addEventListener('abort', onAbort, { once: true });
  });
  await Promise.race([changed, aborted]);
  signal.removeEventListener('abort', onAbort);
}
