import { Failure, Interrupted } from './failure.ts';

type Terminal = Pick<NodeJS.ReadStream, 'setRawMode' | 'on' | 'off' | 'resume' | 'pause'>;

/** After what is refused, what comes within so many milliseconds of the last is the rest of it. */
const restOfPaste = 50;

/**
 * Asks on a terminal and shows nothing of the answer, not even its length. It is taken byte by byte, blanks and tabs
 * included; Backspace takes back a character, Ctrl-U all. Ctrl-C is an `Interrupted`; several pasted lines and keys that are
 * no text are a `Failure`, since the answer would not be what was meant. The terminal shows again what is typed, whatever
 * happens.
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
    let refusal: Failure | null = null;
    let timer: NodeJS.Timeout | null = null;
    const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
    const end = (settle: () => void) => {
      if (timer !== null) clearTimeout(timer);
      input.off('data', take);
      signal.removeEventListener('abort', interrupt);
      input.setRawMode(false);
      input.pause();
      write('\n');
      settle();
    };
    const interrupt = () => end(() => reject(new Interrupted()));
    // The rest of a paste must not go to whatever reads the terminal next.
    const refuse = (found: Failure) => {
      refusal = found;
      if (timer !== null) clearTimeout(timer);
      timer = setTimeout(() => end(() => reject(found)), restOfPaste);
    };
    const take = (chunk: Buffer) => {
      if (refusal !== null) return refuse(refusal);
      const read = readKeys(typed, decoded(decoder, chunk));
      typed = read.typed;
      if (read.end === 'interrupted') interrupt();
      else if (read.end === 'entered') end(() => resolve(typed));
      else if (read.end !== null) refuse(new Failure('answer-unclear', read.end, 'Give it by a file: KEY=@FILE'));
    };
    signal.addEventListener('abort', interrupt, { once: true });
    // Before the question: whoever answers at once, as a program does, would be shown.
    input.setRawMode(true);
    write(`${question} (not shown): `);
    input.on('data', take);
    input.resume();
  });
}

type Read = { readonly typed: string; readonly end: 'entered' | 'interrupted' | (string & {}) | null };

/** Applies pressed keys to what was typed before. */
function readKeys(before: string, keys: string | null): Read {
  if (keys === null) return { typed: before, end: 'What was typed is not valid UTF-8.' };
  let typed = before;
  const all = [...keys];
  for (const [index, key] of all.entries()) {
    const isLast = all.slice(index + 1).every((rest) => rest === '\n');
    if (key === '\r' || key === '\n') return { typed, end: isLast ? 'entered' : 'What was pasted has several lines.' };
    if (key === '\u0003' || (key === '\u0004' && typed === '')) return { typed, end: 'interrupted' };
    if (key === '\u007f' || key === '\b') typed = [...typed].slice(0, -1).join('');
    else if (key === '\u0015') typed = '';
    else if (key !== '\t' && /\p{Cc}/u.test(key)) return { typed, end: 'A key was pressed that is no text.' };
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
