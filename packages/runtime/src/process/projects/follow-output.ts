import { open } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import type { Output } from '../output/output.ts';

const CHUNK_BYTES = 64 * 1024;
/** A longer line is handed out in parts, so that a program that never breaks a line cannot fill the server. */
const LINE_CHARACTERS = 16 * 1024;

/** The lines of an output from its beginning, as they come, until it is finished. A progress bar's returns end a line too. */
export async function* followOutput(output: Pick<Output, 'describe' | 'changed'>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let offset = 0;
  let rest = '';
  for (;;) {
    const described = await output.describe();
    if (described === null) return;
    const { path, base, marks, endedAt } = described;
    const end = marks.at(-1)?.end ?? base;
    offset = Math.max(offset, base);
    const file = await open(path, 'r');
    try {
      while (offset < end) {
        const length = Math.min(CHUNK_BYTES, end - offset);
        const { bytesRead } = await file.read(buffer, 0, length, offset - base);
        if (bytesRead === 0) break;
        offset += bytesRead;
        const lines = (rest + decoder.write(buffer.subarray(0, bytesRead))).split(/\r*\n|\r+(?=[^\n])/);
        rest = lines.pop() ?? '';
        yield* lines;
        for (; rest.length > LINE_CHARACTERS; rest = rest.slice(LINE_CHARACTERS)) yield rest.slice(0, LINE_CHARACTERS);
      }
    } finally {
      await file.close();
    }
    if (endedAt !== null) {
      if (rest + decoder.end() !== '') yield rest;
      return;
    }
    await output.changed(marks.at(-1)?.at ?? 0).done;
  }
}
