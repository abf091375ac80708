import { StringDecoder } from 'node:string_decoder';

/** A longer line is split, so that a program that never ends a line cannot fill the server's memory. */
const LINE_CHARACTERS = 16 * 1024;

/** Turns bytes into lines. A carriage return, as of a progress bar, ends a line too. */
export type LineSplitter = {
  /** The lines that these bytes complete. */
  readonly push: (bytes: Buffer) => readonly string[];
  /** The last line when it has no line break, else none. */
  readonly end: () => readonly string[];
};

export function createLineSplitter(): LineSplitter {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return {
    push: (bytes) => {
      // NUL is what a hole in a file reads as. A terminal shows nothing for it, and PostgreSQL stores it in no text.
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
