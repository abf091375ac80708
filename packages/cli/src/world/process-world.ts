import { readEnvironment } from '../config.ts';
import { Failure, Interrupted } from '../failure.ts';
import type { Ask, Output, World } from './world.ts';

/** The world as this process sees it. Ctrl-C aborts the signal once; a second one ends the process as it always does. */
export function processWorld(): World {
  const interruption = new AbortController();
  process.once('SIGINT', () => interruption.abort(new Interrupted()));
  return {
    environment: readEnvironment(),
    get directory() {
      return currentDirectory();
    },
    stdin: {
      terminal: process.stdin.isTTY === true,
      text: () => readAll(interruption.signal),
      bytes: (limit) => readBytes(interruption.signal, limit),
    },
    stdout: outputOf(process.stdout),
    stderr: outputOf(process.stderr),
    ask: lazyAsk(interruption.signal),
    fetch,
    now: () => new Date(),
    pause: async (milliseconds) => {
      const { setTimeout } = await import('node:timers/promises');
      await setTimeout(milliseconds, undefined, { signal: interruption.signal });
    },
    signal: interruption.signal,
  };
}

/** Asked for only where it matters: most commands work without one. */
function currentDirectory(): string {
  try {
    return process.cwd();
  } catch {
    throw new Failure('no-directory', 'The current directory no longer exists.', 'Change to another one with cd.');
  }
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

/**
 * Aborted when the reader of a pipe has closed it, as after `| head`: there is no reader left to report to. Any other error of
 * standard output, such as a full disk, ends the program with status 1.
 */
function tolerateClosedReader(stream: NodeJS.WriteStream): AbortSignal {
  const closed = new AbortController();
  stream.on('error', (error: NodeJS.ErrnoException) => {
    closed.abort();
    if (error.code === 'EPIPE' || stream === process.stderr) return;
    process.stderr.write(`error: Standard output cannot be written (${error.code}).\n`);
    process.once('exit', () => {
      process.exitCode = 1;
    });
  });
  return closed.signal;
}

async function readAll(signal: AbortSignal): Promise<string> {
  const { text } = await import('node:stream/consumers');
  const { addAbortSignal } = await import('node:stream');
  return text(addAbortSignal(signal, await input()));
}

async function readBytes(signal: AbortSignal, limit: number): Promise<Uint8Array> {
  const { addAbortSignal } = await import('node:stream');
  const { readLimited } = await import('./read-limited.ts');
  return readLimited(addAbortSignal(signal, await input()), limit);
}

/** Standard input to be read to its end. A terminal gets a stream of its own: after Ctrl-D questions can still be asked. */
async function input(): Promise<NodeJS.ReadStream> {
  if (process.stdin.isTTY !== true) return process.stdin;
  const { ReadStream } = await import('node:tty');
  return new ReadStream(0);
}

/** The prompts are loaded when the first question is asked. */
function lazyAsk(signal: AbortSignal): Ask {
  const prompts = async () => (await import('./prompt-ask.ts')).promptAsk(signal);
  return {
    secret: async (question) => {
      const { askHidden } = await import('./hidden-prompt.ts');
      return askHidden(process.stdin, (text) => void process.stderr.write(text), signal, question);
    },
    confirm: async (...given) => (await prompts()).confirm(...given),
    text: async (...given) => (await prompts()).text(...given),
    choose: async (...given) => (await prompts()).choose(...given),
    chooseMany: async (...given) => (await prompts()).chooseMany(...given),
  };
}
