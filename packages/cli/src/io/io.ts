import type { Environment } from '../config.ts';

export type Output = {
  readonly isTerminal: boolean;
  /** Width of the terminal in characters. */
  readonly columns: number;
  write(text: string): void;
  /** Resolves when more can be written. */
  writeBytes(bytes: Uint8Array): Promise<void>;
  /** Aborted when the reader has closed the pipe, as `| head` does. */
  readonly closed: AbortSignal;
};

export type Input = {
  readonly isTerminal: boolean;
  /** Reads to the end. */
  readText(): Promise<string>;
  /** Reads to the end, or until a little more than `limit` bytes were read. */
  readBytes(limit: number): Promise<Uint8Array>;
  /** Reads to the end, piece by piece. */
  stream(): AsyncIterable<Uint8Array>;
};

/** Interactive prompts. Each rejects with `Interrupted` on Ctrl-C. */
export type Prompter = {
  /** Does not show the answer. */
  secret(question: string): Promise<string>;
  /** `initial` is the answer for Enter, "no" by default. */
  confirm(question: string, initial?: boolean): Promise<boolean>;
  /** A line of text; `check` returns an error message or null. */
  text(question: string, initial: string, check: (text: string) => string | null): Promise<string>;
  /** One of several values. */
  select<Value extends string>(question: string, choices: readonly Choice<Value>[], initial: Value): Promise<Value>;
  /** Any number of values. */
  multiselect<Value extends string>(
    question: string,
    choices: readonly Choice<Value>[],
    initial: readonly Value[],
  ): Promise<readonly Value[]>;
};

export type Choice<Value extends string = string> = {
  readonly value: Value;
  readonly label: string;
  readonly hint?: string;
};

/** Everything that commands use from outside the program. The built program passes `processIo()`, tests pass their own value. */
export type Io = {
  readonly environment: Environment;
  /** The current directory; relative paths in arguments are resolved against it. */
  readonly directory: string;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly prompter: Prompter;
  readonly fetch: typeof fetch;
  readonly now: () => Date;
  /** Waits; rejects on Ctrl-C. */
  readonly sleep: (milliseconds: number) => Promise<void>;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
};
