import type { Readable } from 'node:stream';

/** Parses a stream of JSON values, each of which ends with a line break. Ignores an incomplete last line. */
export async function* readJsonLines(stream: Readable): AsyncGenerator<unknown> {
  let rest = '';
  for await (const chunk of stream.setEncoding('utf8')) {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') yield JSON.parse(line);
  }
}
