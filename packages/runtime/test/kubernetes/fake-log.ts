import { EventEmitter } from 'node:events';
import { closeSync, readSync } from 'node:fs';

const lineBreak = 10;
const pollMs = 10;

/** The output of a container, line by line, as a kubelet keeps it. */
export type FakeLog = {
  /** Reads the rest of the file, and closes it. */
  readonly end: () => void;
  /** Writes the lines since a second, each with its time, and then further ones if `follows`. Returns a function that stops it. */
  readonly read: (
    sinceSecond: number,
    follows: boolean,
    to: { readonly write: (bytes: Buffer) => void; readonly end: () => void },
  ) => () => void;
};

type Line = { readonly at: number; readonly bytes: Buffer };

/** Reads the output from a file descriptor. */
export function createFakeLog(file: number): FakeLog {
  const lines: Line[] = [];
  const events = new EventEmitter<{ line: [Line]; end: [] }>().setMaxListeners(0);
  let hasEnded = false;
  let last = 0;
  const add = (content: Buffer) => {
    // In microseconds, and different for each line.
    last = Math.max(Date.now() * 1000, last + 1);
    const seconds = new Date(last / 1000).toISOString().slice(0, 19);
    const time = `${seconds}.${String(last % 1e6).padStart(6, '0')}000Z `;
    const line = { at: Math.floor(last / 1e6), bytes: Buffer.concat([Buffer.from(time), content]) };
    lines.push(line);
    events.emit('line', line);
  };
  const buffer = Buffer.alloc(64 * 1024);
  let offset = 0;
  let rest = Buffer.alloc(0);
  /** Returns the number of bytes that it has read: 0 at the end of the file. */
  const readSome = (): number => {
    const length = readSync(file, buffer, 0, buffer.length, offset);
    offset += length;
    let bytes = Buffer.concat([rest, buffer.subarray(0, length)]);
    for (let at = bytes.indexOf(lineBreak); at !== -1; at = bytes.indexOf(lineBreak)) {
      add(bytes.subarray(0, at + 1));
      bytes = bytes.subarray(at + 1);
    }
    rest = bytes;
    return length;
  };
  // Only a part at once, because a bot may write faster than the lines can be copied.
  const timer = setInterval(readSome, pollMs);
  return {
    end: () => {
      clearInterval(timer);
      while (readSome() > 0);
      closeSync(file);
      if (rest.length > 0) add(rest);
      hasEnded = true;
      events.emit('end');
    },
    read: (sinceSecond, follows, { write, end }) => {
      for (const { at, bytes } of lines) if (at >= sinceSecond) write(bytes);
      if (!follows || hasEnded) {
        end();
        return () => undefined;
      }
      const onLine = ({ bytes }: Line) => write(bytes);
      events.on('line', onLine).once('end', end);
      return () => void events.off('line', onLine).off('end', end);
    },
  };
}
