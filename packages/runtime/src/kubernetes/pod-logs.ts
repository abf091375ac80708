import type { Readable } from 'node:stream';
import { parseLogTimestamp } from '../output/log-timestamp.ts';
import type { OutputSpool } from '../output/output-spool.ts';
import type { PodApi } from './pod-api.ts';

const space = 32;
const lineBreak = 10;

/**
 * Copies the output of a pod to a spool, from where the spool ends. With `follows`, until the bot ends. The node keeps the last
 * 10 MiB by default.
 *
 * @throws ApiError, or the reason of the signal
 */
export async function copyPodLogs(
  api: Pick<PodApi, 'readLog'>,
  name: string,
  spool: OutputSpool,
  follows: boolean,
  signal: AbortSignal,
): Promise<void> {
  const since = spool.recordedAt();
  // The API ignores fractions of a second.
  const from = since === 0 ? null : new Date(Math.floor(since / 1e6) * 1000);
  for await (const line of readLines(await api.readLog(name, from, follows, signal))) {
    const separator = line.indexOf(space);
    const at = parseLogTimestamp(line.toString('latin1', 0, separator));
    // `from` includes lines that are in the spool.
    if (at > since) spool.append(at, line.subarray(separator + 1));
  }
}

/** Yields lines with their line break. The last one has none if the output of the bot ends without it. */
async function* readLines(stream: Readable): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  for await (const chunk of stream) {
    let from = 0;
    const bytes = chunk as Buffer;
    for (let at = bytes.indexOf(lineBreak); at !== -1; at = bytes.indexOf(lineBreak, from)) {
      yield Buffer.concat([...rest, bytes.subarray(from, at + 1)]);
      rest = [];
      from = at + 1;
    }
    if (from < bytes.length) rest.push(bytes.subarray(from));
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}
