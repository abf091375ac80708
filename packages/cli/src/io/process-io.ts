import { type NetworkSettings, readEnvironmentVariableSettings } from '../config.ts';
import { Failure, InterruptedError } from '../failure.ts';
import type { CommandIo, Output, Prompter } from './io.ts';

/**
 * Creates a `CommandIo` of this process: its streams, environment and clock. The first Ctrl-C aborts `signal`, so that the command can
 * end cleanly; the second Ctrl-C kills the process. `onOutputLost` is called if standard output cannot be written, for example to
 * a full disk.
 */
export function createProcessIo(onOutputLost: () => void): CommandIo {
  const interruption = new AbortController();
  const environment = readEnvironmentVariableSettings();
  process.once('SIGINT', () => interruption.abort(new InterruptedError()));
  return {
    environment,
    get directory() {
      return currentDirectory();
    },
    stdin: {
      isTerminal: process.stdin.isTTY === true,
      readText: () => readAll(interruption.signal),
      readBytes: (limit) => readBytes(interruption.signal, limit),
      stream: () => streamInput(interruption.signal),
    },
    stdout: toOutput(process.stdout, ({ code }) => {
      process.stderr.write(`error: Cannot write to standard output (${code}).\n`);
      onOutputLost();
    }),
    stderr: toOutput(process.stderr, () => {}),
    prompter: lazyPrompter(interruption.signal),
    fetch: environment.network === null ? fetch : lazyProxyFetch(environment.network),
    openBrowser: async (url) => environment.hasDisplay && (await import('./open-browser.ts')).openBrowser(url),
    now: () => new Date(),
    monotonicMs: () => performance.now(),
    sleep: async (milliseconds) => {
      const { setTimeout } = await import('node:timers/promises');
      await setTimeout(milliseconds, undefined, { signal: interruption.signal });
    },
    signal: interruption.signal,
  };
}

/**
 * Returns the current directory. Called only by commands that need it, so that all other commands work even after the directory
 * was deleted.
 */
function currentDirectory(): string {
  try {
    return process.cwd();
  } catch (cause) {
    const message = 'The current directory no longer exists.';
    throw new Failure('no-directory', message, 'Change to another directory with cd.', { cause });
  }
}

function toOutput(stream: NodeJS.WriteStream, onLost: (error: NodeJS.ErrnoException) => void): Output {
  const closed = watchForClosedReader(stream, onLost);
  return {
    closed,
    isTerminal: stream.isTTY === true,
    // Use 80 columns if the stream is not a terminal or reports a width of 0, as some terminals do.
    columns: stream.columns || 80,
    write: (text) => void stream.write(text),
    writeBytes: (bytes) =>
      new Promise((resolve, reject) => {
        stream.write(bytes, (error) => (error ? reject(error) : resolve()));
      }),
  };
}

/**
 * Returns a signal that is aborted on the first write error of a stream. An EPIPE error means that the reader closed the pipe,
 * as `| head` does. Any other error, such as a full disk, is also passed to `onLost`.
 */
function watchForClosedReader(stream: NodeJS.WriteStream, onLost: (error: NodeJS.ErrnoException) => void): AbortSignal {
  const closed = new AbortController();
  stream.on('error', (error: NodeJS.ErrnoException) => {
    closed.abort();
    if (error.code !== 'EPIPE') onLost(error);
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
  const { readLimitedBytes: readLimited } = await import('./read-limited.ts');
  return readLimited(addAbortSignal(signal, await stdinStream()), limit);
}

/**
 * For a terminal, open a separate stream, because `process.stdin` cannot be read again after Ctrl-D, but prompts must still work.
 */
async function stdinStream(): Promise<NodeJS.ReadStream> {
  if (process.stdin.isTTY !== true) return process.stdin;
  const { ReadStream } = await import('node:tty');
  return new ReadStream(0);
}

/** Load undici's own `fetch`, which can use proxies, only for the first request. */
function lazyProxyFetch(settings: NetworkSettings): typeof fetch {
  let loaded: Promise<typeof fetch> | undefined;
  return async (input, init) => {
    loaded ??= import('./proxy-fetch.ts').then(({ createProxyFetch }) => createProxyFetch(settings));
    return (await loaded)(input, init);
  };
}

/** Load the prompt library only when the first question is asked. */
function lazyPrompter(signal: AbortSignal): Prompter {
  const prompts = async () => (await import('./prompter.ts')).createPrompter(signal);
  return {
    secret: async (question) => {
      const { promptHidden: askHidden } = await import('./hidden-prompt.ts');
      return askHidden(process.stdin, (text) => void process.stderr.write(text), signal, question);
    },
    confirm: async (...args) => (await prompts()).confirm(...args),
    text: async (...args) => (await prompts()).text(...args),
    select: async (...args) => (await prompts()).select(...args),
    multiselect: async (...args) => (await prompts()).multiselect(...args),
  };
}
