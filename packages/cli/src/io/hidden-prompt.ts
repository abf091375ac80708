import { Failure, InterruptedError } from '../failure.ts';

type Terminal = Pick<NodeJS.ReadStream, 'setRawMode' | 'on' | 'off' | 'resume' | 'pause'>;

/** Input that arrives within this time after a line break is part of the same paste. */
const pasteGapMs = 50;

/**
 * Prompts on a terminal without showing the answer or its length. Does not trim the answer. Ctrl-C throws `InterruptedError`. A
 * paste of several lines or a key that is not text throws a `Failure`, because the answer would be incomplete.
 */
export function promptHidden(
  input: Terminal,
  write: (text: string) => void,
  signal: AbortSignal,
  question: string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    // An already aborted signal fires no `abort` event, so check it before listening for the event.
    if (signal.aborted) return reject(new InterruptedError());
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
    const interrupt = () => end(() => reject(new InterruptedError()));
    const conclude = () => {
      if (refusal !== null) return end(() => reject(refusal));
      if (!isEntered) return interrupt();
      end(() => resolve(typed));
    };
    const take = (chunk: Buffer) => {
      if (refusal === null) {
        const keys = decodeUtf8(decoder, chunk);
        const read = readKeys(typed, keys === null || !isEntered ? keys : `\r${keys}`);
        typed = read.typed;
        if (read.end === null) return;
        if (read.end === 'interrupted') return interrupt();
        isEntered = read.end === 'entered';
        if (!isEntered)
          refusal = new Failure('answer-unclear', read.end, 'To read the value from a file, use KEY=@FILE.');
      }
      // Consume the rest of a paste, so that the shell does not execute it.
      clearTimeout(timer);
      timer = setTimeout(conclude, pasteGapMs);
    };
    signal.addEventListener('abort', interrupt, { once: true });
    // Turn echo off before the question is shown, because a program that drives the terminal may send the answer immediately.
    input.setRawMode(true);
    write(`${question} (not shown): `);
    input.on('data', take);
    input.on('end', conclude);
    input.resume();
  });
}

type KeyResult = { readonly typed: string; readonly end: 'entered' | 'interrupted' | (string & {}) | null };

function readKeys(before: string, keys: string | null): KeyResult {
  if (keys === null) return { typed: before, end: 'The input is not valid UTF-8.' };
  let typed = before;
  const all = [...keys];
  for (const [index, key] of all.entries()) {
    const isLast = all.slice(index + 1).every((rest) => rest === '\n');
    if (key === '\r' || key === '\n') return { typed, end: isLast ? 'entered' : 'The pasted text has several lines.' };
    if (key === '\u0003' || (key === '\u0004' && typed === '')) return { typed, end: 'interrupted' };
    if (key === '\u007f' || key === '\b') typed = [...typed].slice(0, -1).join('');
    else if (key === '\u0015') typed = '';
    else if (key !== '\t' && /\p{Cc}/u.test(key)) return { typed, end: 'The pressed key is not text.' };
    else typed += key;
  }
  return { typed, end: null };
}

function decodeUtf8(decoder: InstanceType<typeof TextDecoder>, chunk: Buffer): string | null {
  try {
    return decoder.decode(chunk, { stream: true });
  } catch {
    return null;
  }
}
