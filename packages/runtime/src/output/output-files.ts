import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { maxOutputTailBytes, type OutputFile, type OutputOffsetRange } from '../runtime.ts';
import { parseOutputEndTimestamp, parseOutputTimestamps } from './output-marks.ts';

export type OutputFiles = {
  readonly output: string;
  /** File of marks. Each mark is an offset and the time at which the server had read the output up to that offset. */
  readonly marks: string;
  /** File with the offset of the first byte of `output`. The file is missing while that offset is 0. */
  readonly base: string;
  /** Start and end offset of a dropped range of `output`. Its disk blocks are freed, so the range reads as zeros. */
  readonly gap: string;
  /**
   * File with a copy of the last lines that `output` contained before the server emptied it because of a size limit. With the
   * copy, the last lines of the instance's output can be read even if the new content of `output` is short.
   */
  readonly truncatedTail: string;
};

export function getOutputFiles(directory: string): OutputFiles {
  return {
    output: join(directory, 'output'),
    marks: join(directory, 'marks'),
    base: join(directory, 'base'),
    gap: join(directory, 'gap'),
    truncatedTail: join(directory, 'kept'),
  };
}

/** JavaScript numbers count bytes exactly up to this offset. Output beyond it, which a sparse file can have, is dropped. */
export const maxOutputOffsetBytes = 2 ** 52;

const offsetSchema = z.int().min(0).max(maxOutputOffsetBytes);
const gapSchema = z.object({ from: offsetSchema, to: offsetSchema });

/** Reads where the output file begins, at most `maxOutputOffsetBytes`, because an earlier version stored larger offsets. */
export function readOutputBaseOffset(files: OutputFiles): number {
  try {
    const stored = Number(readFileSync(files.base, 'utf8'));
    return offsetSchema.parse(Math.min(stored, maxOutputOffsetBytes));
  } catch {
    return 0;
  }
}

export function readDroppedOutputRange(files: OutputFiles): OutputOffsetRange | null {
  try {
    return gapSchema.parse(JSON.parse(readFileSync(files.gap, 'utf8')));
  } catch {
    return null;
  }
}

/**
 * Describes an output file, or returns null if the file does not exist. Output gets its timestamp when the server reads it. If
 * the instance has ended, output without a timestamp gets the modification time of the file as its timestamp.
 */
export async function readOutputFileMetadata(files: OutputFiles, ended: boolean): Promise<OutputFile | null> {
  const found = await stat(files.output).catch(() => null);
  if (found === null) return null;
  const base = readOutputBaseOffset(files);
  const gap = readDroppedOutputRange(files);
  const written = await readFile(files.marks, 'latin1').catch(() => '');
  const marks = [...parseOutputTimestamps(written)];
  const end = Math.min(base + found.size, maxOutputOffsetBytes);
  const modifiedAt = Math.round(found.mtimeMs * 1000);
  const last = marks.at(-1) ?? { end: 0, at: 0 };
  if (ended && end > last.end) marks.push({ end, at: Math.max(modifiedAt, last.at + 1), unattended: true });
  const lastAt = marks.at(-1)?.at ?? 0;
  const dropped = [
    ...(base > 0 ? [{ from: 0, to: base }] : []),
    ...(gap !== null && gap.from >= base && gap.to <= end ? [gap] : []),
  ];
  const endedAt = ended ? Math.max(parseOutputEndTimestamp(written) ?? modifiedAt, lastAt + 1) : null;
  return { path: files.output, base, dropped, marks, endedAt };
}

/** Reads the last lines, at most 4 KiB, even from a file that was emptied. Replaces NUL, which PostgreSQL cannot store. */
export function readTail(files: OutputFiles): string {
  return tailText(files).replaceAll('\0', '\ufffd');
}

function tailText(files: OutputFiles): string {
  let bytes = readLastBytes(files.output);
  if (bytes.length < maxOutputTailBytes) bytes = Buffer.concat([readLastBytes(files.truncatedTail), bytes]);
  if (bytes.length < maxOutputTailBytes) return bytes.toString('utf8');
  const last = bytes.subarray(bytes.length - maxOutputTailBytes);
  const newline = last.indexOf(10);
  let from = newline === -1 || newline === last.length - 1 ? 0 : newline + 1;
  // Do not start in the middle of a UTF-8 character: skip at most three continuation bytes. Longer sequences are invalid UTF-8
  // and stay.
  const start = from;
  while (from - start < 3 && ((last[from] ?? 0) & 0xc0) === 0x80) from++;
  return last.toString('utf8', from);
}

export function readLastBytes(path: string): Buffer {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return Buffer.alloc(0);
  }
  try {
    const bytes = Buffer.alloc(maxOutputTailBytes);
    const { size } = fstatSync(file, { bigint: true });
    const position = size > maxOutputTailBytes ? size - BigInt(maxOutputTailBytes) : 0n;
    return bytes.subarray(0, readSync(file, bytes, 0, maxOutputTailBytes, position));
  } finally {
    closeSync(file);
  }
}
