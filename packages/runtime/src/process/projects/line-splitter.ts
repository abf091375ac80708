import { StringDecoder } from 'node:string_decoder';

/** Longer lines are split, so that a program that never ends a line cannot fill the server's memory. */
const LINE_CHARACTERS = 16 * 1024;

/** Splits bytes into lines. A carriage return, for example of a progress bar, ends a line too. */
export type LineSplitter = {
  /** Returns the lines that these bytes complete. */
  readonly push: (bytes: Buffer) => readonly string[];
  /** Returns the last line if it has no line break. */
  readonly end: () => readonly string[];
};

export function createLineSplitter(): LineSplitter {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return {
    push: (bytes) => {
      // Holes in a sparse file read as NUL, which PostgreSQL cannot store in text.
      const text = decoder.write(bytes).replaceAll('\0', '');
      const lines = (rest + text).split(/\r*\n|\r+(?=[^\n])/);
      rest = lines.pop() ?? '';
      for (; rest.length > LINE_CHARACTERS; rest = rest.slice(LINE_CHARACTERS))
        lines.push(rest.slice(0, LINE_CHARACTERS));
      return lines;
    },
    end: () => {
      const last = rest + decoder.end();
      rest = '';
      return last === '' ? [] : [last];
    },
  };
}
