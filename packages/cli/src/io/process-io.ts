import { readEnvironment } from '../config.ts';
import { Failure, Interrupted } from '../failure.ts';
import type { Io, Output, Prompter } from './io.ts';

/**
 * Uses the streams, environment and clock of this process. The first Ctrl-C aborts the signal; the second one kills the
 * process.
 */
export function createProcessIo(): Io {
  const interruption = new AbortController();
  process.once('SIGINT', () => interruption.abort(new Interrupted()));
  return {
    environment: readEnvironment(),
    get directory() {
      return currentDirectory();
    },
    stdin: {
      isTerminal: process.stdin.isTTY === true,
      readText: () => readAll(interruption.signal),
      readBytes: (limit) => readBytes(interruption.signal, limit),
      stream: () => streamInput(interruption.signal),
    },
    stdout: toOutput(process.stdout),
    stderr: toOutput(process.stderr),
    prompter: lazyPrompter(interruption.signal),
    fetch,
    now: () => new Date(),
    sleep: async (milliseconds) => {
      const { setTimeout } = await import('node:timers/promises');
      await setTimeout(milliseconds, undefined, { signal: interruption.signal });
    },
    signal: interruption.signal,
  };
}

/** Called only when needed, because most commands work without a current directory. */
function currentDirectory(): string {
  try {
    return process.cwd();
  } catch {
    throw new Failure(
      'no-directory',
      'The current directory no longer exists.',
      'Change to another directory with cd.',
    );
  }
}

function toOutput(stream: NodeJS.WriteStream): Output {
  const closed = watchForClosedReader(stream);
  return {
    closed,
    isTerminal: stream.isTTY === true,
    // The width is 0 if the terminal does not know its width.
    columns: stream.columns || 80,
    write: (text) => void stream.write(text),
    writeBytes: (bytes) =>
      new Promise((resolve, reject) => {
        stream.write(bytes, (error) => (error ? reject(error) : resolve()));
      }),
  };
}

/**
 * The returned signal is aborted when the reader closes the pipe, as `| head` does. Any other error of standard output, such
 * as a full disk, sets exit status 1.
 */
function watchForClosedReader(stream: NodeJS.WriteStream): AbortSignal {
  const closed = new AbortController();
  stream.on('error', (error: NodeJS.ErrnoException) => {
    closed.abort();
    if (error.code === 'EPIPE' || stream === process.stderr) return;
    process.stderr.write(`error: Cannot write to standard output (${error.code}).\n`);
    process.once('exit', () => {
      process.exitCode = 1;
    });
  });
  return closed.signal;
}

async function readAll(signal: AbortSignal): Promise<string> {
  const { text } = await import('node:stream/consumers');
  const { addAbortSignal } = await import('node:stream');
  return text(addAbortSignal(signal, await stdinStream()));
}

async function* streamInput(signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const { addAbortSignal } = await import('node:stream');
  yield* addAbortSignal(signal, await stdinStream());
}

async function readBytes(signal: AbortSignal, limit: number): Promise<Uint8Array> {
  const { addAbortSignal } = await import('node:stream');
  const { readLimited } = await import('./read-limited.ts');
  return readLimited(addAbortSignal(signal, await stdinStream()), limit);
}

/** Opens a separate stream for a terminal, so that prompts still work after Ctrl-D. */
async function stdinStream(): Promise<NodeJS.ReadStream> {
  if (process.stdin.isTTY !== true) return process.stdin;
  const { ReadStream } = await import('node:tty');
  return new ReadStream(0);
}

/** Loads the prompt library only for the first question. */
function lazyPrompter(signal: AbortSignal): Prompter {
  const prompts = async () => (await import('./prompter.ts')).createPrompter(signal);
  return {
    secret: async (question) => {
      const { askHidden } = await import('./hidden-prompt.ts');
      return askHidden(process.stdin, (text) => void process.stderr.write(text), signal, question);
    },
    confirm: async (...args) => (await prompts()).confirm(...args),
    text: async (...args) => (await prompts()).text(...args),
    select: async (...args) => (await prompts()).select(...args),
    multiselect: async (...args) => (await prompts()).multiselect(...args),
  };
}
