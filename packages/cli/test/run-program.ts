import { setTimeout } from 'node:timers/promises';
import { type EnvironmentVariableSettings, readEnvironmentVariableSettings } from '../src/config.ts';
import { InterruptedError } from '../src/failure.ts';
import type { CommandIo } from '../src/io/io.ts';
import { runCommandLine } from '../src/program.ts';

export type ProgramOutcome = { readonly status: number; readonly stdout: string; readonly stderr: string };

export type RunOptions = {
  /** The program's environment variables. It does not inherit those of the test process. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly terminal?: boolean;
  readonly columns?: number;
  readonly stdin?: string | Uint8Array;
  readonly directory?: string;
  /** Answers to the prompts in order. An answer is a text, yes or no, several choices, or 'ctrl-c'. */
  readonly answers?: readonly (string | boolean | readonly string[])[];
  readonly now?: Date;
  /** The clock that measures durations. By default, the clock always returns 0. */
  readonly monotonicMs?: () => number;
  readonly signal?: AbortSignal;
  readonly onStderr?: (text: string) => void;
  /**
   * Called when the program opens a web page. If the callback returns false, the program behaves as on a machine without a
   * browser.
   */
  readonly onBrowser?: (url: string) => boolean;
};

/** Runs a command line in this process with fake streams and prompts. Returns its output and exit status. */
export async function runProgram(args: readonly string[], options: RunOptions = {}): Promise<ProgramOutcome> {
  const written = { stdout: '', stderr: '' };
  const terminal = options.terminal ?? false;
  const questions = [...(options.answers ?? [])];
  const output = (name: 'stdout' | 'stderr') => ({
    isTerminal: terminal,
    columns: options.columns ?? 80,
    closed: new AbortController().signal,
    writeBytes: async (bytes: Uint8Array) => {
      written[name] += Buffer.from(bytes).toString('latin1');
    },
    write: (text: string) => {
      written[name] += text;
      if (name === 'stderr') options.onStderr?.(text);
    },
  });
  const reply = (question: string) => {
    const answer = questions.shift();
    if (answer === undefined) throw new Error(`The test has no answer for the question: ${question}`);
    if (answer === 'ctrl-c') throw new InterruptedError();
    written.stderr += `? ${question}\n`;
    return answer;
  };
  const environment: EnvironmentVariableSettings = readEnvironmentVariableSettings({
    HOME: '/nonexistent',
    ...options.variables,
  });
  const io: CommandIo = {
    environment,
    directory: options.directory ?? '/nonexistent',
    stdin: {
      isTerminal: terminal,
      readText: async () => Buffer.from(options.stdin ?? '').toString(),
      readBytes: async () => Buffer.from(options.stdin ?? ''),
      stream: async function* () {
        yield Buffer.from(options.stdin ?? '');
      },
    },
    stdout: output('stdout'),
    stderr: output('stderr'),
    prompter: {
      secret: async (question) => String(reply(question)),
      confirm: async (question) => reply(question) === true,
      text: async (question, initial, check) => {
        const answer = String(reply(question));
        const text = answer === '' ? initial : answer;
        const refusal = check(text);
        if (refusal !== null) throw new Error(`The prompt "${question}" rejected the answer ${text}: ${refusal}`);
        return text;
      },
      select: async (question, choices) => {
        const answer = reply(question);
        const found = choices.find(({ value }) => value === answer);
        if (found === undefined) throw new Error(`The question "${question}" does not offer ${String(answer)}.`);
        return found.value;
      },
      multiselect: async (question, choices) => {
        const answer = reply(question);
        if (!Array.isArray(answer)) throw new Error(`The question "${question}" expects a list of answers.`);
        return choices.flatMap(({ value }) => (answer.includes(value) ? [value] : []));
      },
    },
    fetch,
    openBrowser: async (url) => options.onBrowser?.(url) ?? false,
    now: () => options.now ?? new Date('2026-11-20T17:00:00.000Z'),
    monotonicMs: options.monotonicMs ?? (() => 0),
    // Shorten each delay to at most 10 ms, which lets a fake service in the same process respond meanwhile.
    sleep: (milliseconds) => setTimeout(Math.min(milliseconds, 10)),
    signal: options.signal ?? new AbortController().signal,
  };
  const status = await runCommandLine(io, args);
  return { status, ...written };
}
