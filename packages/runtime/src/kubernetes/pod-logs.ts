import type { Readable } from 'node:stream';
import { parseLogTimestamp } from '../output/log-timestamp.ts';
import type { OutputSpool } from '../output/output-spool.ts';
import type { PodApi } from './pod-api.ts';

const space = 32;
const lineBreak = 10;
const maxPieceBytes = 64 * 1024;

/**
 * Copies the output of a pod to a spool, from where the spool ends. With `follows`, until the bot ends. The node keeps the last
 * 10 MiB by default. If the stream is interrupted within a line of more than 64 KiB, the rest of this line is lost.
 *
 * @throws ClusterError, or the reason of the signal
 */
export async function copyPodLogs(
  api: Pick<PodApi, 'readLog'>,
  name: string,
  spool: Pick<OutputSpool, 'recordedAt' | 'append'>,
  follows: boolean,
  signal: AbortSignal,
): Promise<void> {
  const since = spool.recordedAt();
  // The API ignores fractions of a second.
  const from = since === 0 ? null : new Date(Math.floor(since / 1e6) * 1000);
  let at = 0;
  for await (const { bytes, beginsLine } of readLinePieces(await api.readLog(name, from, follows, signal))) {
    // The kubelet writes the timestamp once, before the line.
    const separator = beginsLine ? bytes.indexOf(space) : -1;
    if (beginsLine) at = parseLogTimestamp(bytes.toString('latin1', 0, separator));
    // `from` includes lines that are in the spool.
    if (at > since) spool.append(at, bytes.subarray(separator + 1));
  }
}

/** A line with its line break, or a part of it. */
type LinePiece = { readonly bytes: Buffer; readonly beginsLine: boolean };

/** Yields longer lines in pieces, so that a bot that writes no line breaks does not fill the memory. */
async function* readLinePieces(stream: Readable): AsyncGenerator<LinePiece> {
  let rest: Buffer = Buffer.alloc(0);
  let beginsLine = true;
  for await (const chunk of stream) {
    rest = Buffer.concat([rest, chunk as Buffer]);
    for (let length = findPieceLength(rest); length > 0; length = findPieceLength(rest)) {
      const bytes = rest.subarray(0, length);
      yield { bytes, beginsLine };
      beginsLine = bytes.at(-1) === lineBreak;
      rest = rest.subarray(length);
    }
  }
  if (rest.length > 0) yield { bytes: rest, beginsLine };
}

/** Returns 0 if the piece is not complete yet. */
function findPieceLength(bytes: Buffer): number {
  const length = bytes.subarray(0, maxPieceBytes).indexOf(lineBreak) + 1;
  return length === 0 && bytes.length >= maxPieceBytes ? maxPieceBytes : length;
}
