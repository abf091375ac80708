import { tolerateClosedReader } from './closed-reader.ts';
import { readEnvironment } from './config.ts';
import { Interrupted } from './failure.ts';
import type { Ask, Output, World } from './world.ts';

/** The world as this process sees it. Ctrl-C aborts the signal once; a second one ends the process as it always does. */
export function processWorld(): World {
  const interruption = new AbortController();
  process.once('SIGINT', () => interruption.abort(new Interrupted()));
  return {
    environment: readEnvironment(),
    directory: process.cwd(),
    stdin: { terminal: process.stdin.isTTY === true, text: () => readAll(interruption.signal) },
    stdout: outputOf(process.stdout),
    stderr: outputOf(process.stderr),
    ask: promptAsk(),
    fetch,
    now: () => new Date(),
    pause: async (milliseconds) => {
      const { setTimeout } = await import('node:timers/promises');
      await setTimeout(milliseconds, undefined, { signal: interruption.signal });
    },
    signal: interruption.signal,
  };
}

function outputOf(stream: NodeJS.WriteStream): Output {
  const closed = tolerateClosedReader(stream);
  return {
    closed,
    terminal: stream.isTTY === true,
    // A terminal that does not know its width says 0.
    columns: stream.columns || 80,
    write: (text) => void stream.write(text),
  };
}

async function readAll(signal: AbortSignal): Promise<string> {
  const { text } = await import('node:stream/consumers');
  const { addAbortSignal } = await import('node:stream');
  return text(addAbortSignal(signal, process.stdin));
}

/** Questions go to standard error: standard output belongs to data. */
function promptAsk(): Ask {
  return {
    secret: async (message) => {
      const { isCancel, password } = await import('@clack/prompts');
      const answer = await password({ message, output: process.stderr });
      if (isCancel(answer)) throw new Interrupted();
      return answer;
    },
    confirm: async (message) => {
      const { confirm, isCancel } = await import('@clack/prompts');
      const answer = await confirm({ message, initialValue: false, output: process.stderr });
      if (isCancel(answer)) throw new Interrupted();
      return answer;
    },
  };
}
