import type { Readable } from 'node:stream';
import { parseLogTimestamp } from '../output/log-timestamp.ts';
import type { OutputSpool } from '../output/output-spool.ts';
import type { EngineClient } from './engine-client.ts';

/** Bytes before each message: the stream, three zeros, and the length of the message (Docker Engine API, "Stream format"). */
const headerBytes = 8;

/**
 * Copies the output of a container to a spool, from where the spool ends. With `follows`, until the container ends.
 *
 * @throws EngineError, or the reason of the signal
 */
export async function copyContainerLogs(
  engine: EngineClient,
  containerId: string,
  spool: OutputSpool,
  follows: boolean,
  signal: AbortSignal,
): Promise<void> {
  const since = spool.recordedAt();
  const stream = await engine.stream('GET', `/containers/${containerId}/logs`, {
    query: {
      stdout: '1',
      stderr: '1',
      timestamps: '1',
      follow: follows ? '1' : '0',
      since: `${Math.floor(since / 1e6)}.${String(since % 1e6).padStart(6, '0')}000`,
    },
    signal,
  });
  for await (const message of readMessages(stream)) {
    const space = message.indexOf(32);
    const at = parseLogTimestamp(message.toString('latin1', 0, space));
    // `since` includes messages of that moment, which are in the spool.
    if (at > since) spool.append(at, message.subarray(space + 1));
  }
}

async function* readMessages(stream: Readable): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    let rest: Buffer = Buffer.concat(chunks, length);
    while (rest.length >= headerBytes && rest.length >= headerBytes + rest.readUInt32BE(4)) {
      const end = headerBytes + rest.readUInt32BE(4);
      yield rest.subarray(headerBytes, end);
      rest = rest.subarray(end);
    }
    chunks = [rest];
    length = rest.length;
  }
}
