import { Failure, Interrupted } from '../failure.ts';

type Terminal = Pick<NodeJS.ReadStream, 'setRawMode' | 'on' | 'off' | 'resume' | 'pause'>;

/** What comes within so many milliseconds of a line's end, or of what is refused, is the rest of the same paste. */
const restOfPaste = 50;

/**
 * Asks on a terminal and shows nothing of the answer, not even its length. It is taken byte by byte, blanks and tabs
 * included; Backspace takes back a character, Ctrl-U all. Ctrl-C is an `Interrupted`; several pasted lines and keys that are
 * no text are a `Failure`, since the answer would not be what was meant. A paste may come in pieces that end where its lines
 * do, so that the answer is waited for a moment longer. The terminal shows again what is typed, whatever happens.
 */
export function askHidden(
  input: Terminal,
  write: (text: string) => void,
  signal: AbortSignal,
  question: string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    // Ctrl-C may have come before the question: nobody would tell it again.
    if (signal.aborted) return reject(new Interrupted());
    let typed = '';
    let isEntered = false;
    let refusal: Failure | null = null;
    let timer: NodeJS.Timeout | undefined;
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const end = (settle: () => void) => {
      clearTimeout(timer);
      input.off('data', take);
      input.off('end', conclude);
      signal.removeEventListener('abort', interrupt);
      input.setRawMode(false);
      input.pause();
      write('\n');
      settle();
    };
    const interrupt = () => end(() => reject(new Interrupted()));
    // Nothing more comes: no terminal is there any more, or the paste is over.
    const conclude = () => {
      if (refusal !== null) return end(() => reject(refusal));
      if (!isEntered) return interrupt();
      end(() => resolve(typed));
    };
    const take = (chunk: Buffer) => {
      if (refusal === null) {
        const keys = decoded(decoder, chunk);
        const read = readKeys(typed, keys === null || !isEntered ? keys : `\r${keys}`);
        typed = read.typed;
        if (read.end === null) return;
        if (read.end === 'interrupted') return interrupt();
        isEntered = read.end === 'entered';
        if (!isEntered) refusal = new Failure('answer-unclear', read.end, 'Use a file: KEY=@FILE');
      }
      // The rest of a paste must not go to whatever reads the terminal next.
      clearTimeout(timer);
      timer = setTimeout(conclude, restOfPaste);
    };
    signal.addEventListener('abort', interrupt, { once: true });
    // Before the question: whoever answers at once, as a program does, would be shown.
    input.setRawMode(true);
    write(`${question} (not shown): `);
    input.on('data', take);
    input.on('end', conclude);
    input.resume();
  });
}

type Read = { readonly typed: string; readonly end: 'entered' | 'interrupted' | (string & {}) | null };

/** Applies pressed keys to what was typed before. */
function readKeys(before: string, keys: string | null): Read {
  if (keys === null) return { typed: before, end: 'The input is not valid UTF-8.' };
  let typed = before;
  const all = [...keys];
  for (const [index, key] of all.entries()) {
    const isLast = all.slice(index + 1).every((rest) => rest === '\n');
    if (key === '\r' || key === '\n') return { typed, end: isLast ? 'entered' : 'The pasted text has several lines.' };
    if (key === '\u0003' || (key === '\u0004' && typed === '')) return { typed, end: 'interrupted' };
    if (key === '\u007f' || key === '\b') typed = [...typed].slice(0, -1).join('');
    else if (key === '\u0015') typed = '';
    else if (key !== '\t' && /\p{Cc}/u.test(key)) return { typed, end: 'A key was pressed that is not text.' };
    else typed += key;
  }
  return { typed, end: null };
}

function decoded(decoder: InstanceType<typeof TextDecoder>, chunk: Buffer): string | null {
  try {
    return decoder.decode(chunk, { stream: true });
  } catch {
    return null;
  }
}
