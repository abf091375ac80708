import type { EnvironmentVariableSettings } from '../config.ts';

export type Output = {
  readonly isTerminal: boolean;
  readonly columns: number;
  write(text: string): void;
  /** Resolves when the stream can accept more data. */
  writeBytes(bytes: Uint8Array): Promise<void>;
  /** Aborted when the reader has closed the pipe, as `| head` does. */
  readonly closed: AbortSignal;
};

export type Input = {
  readonly isTerminal: boolean;
  readText(): Promise<string>;
  /** Reads standard input to its end, but stops soon after `limit` bytes. */
  readBytes(limit: number): Promise<Uint8Array>;
  /** Standard input as a stream of chunks. */
  stream(): AsyncIterable<Uint8Array>;
};

/** Asks questions on the terminal. All methods reject with `InterruptedError` on Ctrl-C. */
export type Prompter = {
  secret(question: string): Promise<string>;
  /** Asks a yes-or-no question. Enter selects `initial`, which is "no" by default. */
  confirm(question: string, initial?: boolean): Promise<boolean>;
  /** Prompts for a line of text. `check` returns an error message or null. */
  text(question: string, initial: string, check: (text: string) => string | null): Promise<string>;
  select<Value extends string>(
    question: string,
    choices: readonly PromptChoice<Value>[],
    initial: Value,
  ): Promise<Value>;
  multiselect<Value extends string>(
    question: string,
    choices: readonly PromptChoice<Value>[],
    initial: readonly Value[],
  ): Promise<readonly Value[]>;
};

export type PromptChoice<Value extends string = string> = {
  readonly value: Value;
  readonly label: string;
  readonly hint?: string;
};

/** All input and output of commands. The program passes `createProcessIo()`; tests pass their own object. */
export type CommandIo = {
  readonly environment: EnvironmentVariableSettings;
  /** The current directory, against which relative paths in arguments are resolved. */
  readonly directory: string;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly prompter: Prompter;
  readonly fetch: typeof fetch;
  /** Opens a web page in the user's browser. Resolves to false if no browser can be opened. */
  readonly openBrowser: (url: string) => Promise<boolean>;
  readonly now: () => Date;
  /** The time of a monotonic clock, to measure durations: unlike `now`, it does not jump when the system clock is set. */
  readonly monotonicMs: () => number;
  readonly sleep: (milliseconds: number) => Promise<void>;
  readonly signal: AbortSignal;
};
