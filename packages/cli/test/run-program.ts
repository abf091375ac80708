import { setTimeout } from 'node:timers/promises';
import { type Environment, readEnvironment } from '../src/config.ts';
import { Interrupted } from '../src/failure.ts';
import type { Io } from '../src/io/io.ts';
import { run } from '../src/program.ts';

export type Outcome = { readonly status: number; readonly stdout: string; readonly stderr: string };

export type Circumstances = {
  /** Variables of the environment; nothing of this process's own is seen. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Whether the three streams are a terminal. */
  readonly terminal?: boolean;
  readonly columns?: number;
  readonly stdin?: string | Uint8Array;
  readonly directory?: string;
  /** What a person answers, in order: a text, yes or no, several choices, or Ctrl-C. */
  readonly answers?: readonly (string | boolean | readonly string[])[];
  readonly now?: Date;
  readonly signal?: AbortSignal;
  /** Receives standard error while the program runs. */
  readonly onStderr?: (text: string) => void;
};

/** Runs a command line in this process, in a io of the test's making, and answers what was seen of it. */
export async function runProgram(args: readonly string[], given: Circumstances = {}): Promise<Outcome> {
  const written = { stdout: '', stderr: '' };
  const terminal = given.terminal ?? false;
  const questions = [...(given.answers ?? [])];
  const output = (name: 'stdout' | 'stderr') => ({
    isTerminal: terminal,
    columns: given.columns ?? 80,
    closed: new AbortController().signal,
    write: (text: string) => {
      written[name] += text;
      if (name === 'stderr') given.onStderr?.(text);
    },
  });
  const reply = (question: string) => {
    const answer = questions.shift();
    if (answer === undefined) throw new Error(`The test has no answer for the question: ${question}`);
    if (answer === 'ctrl-c') throw new Interrupted();
    written.stderr += `? ${question}\n`;
    return answer;
  };
  const environment: Environment = readEnvironment({ HOME: '/nonexistent', ...given.variables });
  const io: Io = {
    environment,
    directory: given.directory ?? '/nonexistent',
    stdin: {
      isTerminal: terminal,
      readText: async () => Buffer.from(given.stdin ?? '').toString(),
      readBytes: async () => Buffer.from(given.stdin ?? ''),
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
        if (refusal !== null) throw new Error(`${question} refuses ${text}: ${refusal}`);
        return text;
      },
      select: async (question, choices) => {
        const answer = reply(question);
        const found = choices.find(({ value }) => value === answer);
        if (found === undefined) throw new Error(`${question} does not offer ${String(answer)}`);
        return found.value;
      },
      multiselect: async (question, choices) => {
        const answer = reply(question);
        if (!Array.isArray(answer)) throw new Error(`${question} takes several`);
        return choices.flatMap(({ value }) => (answer.includes(value) ? [value] : []));
      },
    },
    fetch,
    now: () => given.now ?? new Date('2026-11-20T17:00:00.000Z'),
    // Not as long as a person's, and long enough for a service in the same process to get on.
    sleep: (milliseconds) => setTimeout(Math.min(milliseconds, 10)),
    signal: given.signal ?? new AbortController().signal,
  };
  const status = await run(io, args);
  return { status, ...written };
}
