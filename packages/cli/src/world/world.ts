import type { Environment } from '../config.ts';

export type Output = {
  readonly terminal: boolean;
  /** Width of the terminal in characters; what tables may take. */
  readonly columns: number;
  write(text: string): void;
  /** Aborted when nobody reads any more, as after `| head`. */
  readonly closed: AbortSignal;
};

export type Input = {
  readonly terminal: boolean;
  /** All of it, to its end. */
  text(): Promise<string>;
  /** The same as bytes; of more than `limit` it ends soon after them. */
  bytes(limit: number): Promise<Uint8Array>;
};

/** Questions to a person. Each rejects with `Interrupted` when the person presses Ctrl-C. */
export type Ask = {
  /** Nothing of the answer is shown. */
  secret(question: string): Promise<string>;
  /** `initial` is what Enter alone answers; without it that is no. */
  confirm(question: string, initial?: boolean): Promise<boolean>;
  /** A line of text; `check` says what is wrong with it, or null. */
  text(question: string, initial: string, check: (text: string) => string | null): Promise<string>;
  /** One of several; a long list can be searched by typing. */
  choose<Value extends string>(question: string, choices: readonly Choice<Value>[], initial: Value): Promise<Value>;
  /** Any number of several. */
  chooseMany<Value extends string>(
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

/** Everything outside the program, as one value: the built program passes the process, tests pass their own. */
export type World = {
  readonly environment: Environment;
  /** Where relative paths in arguments start. */
  readonly directory: string;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly ask: Ask;
  readonly fetch: typeof fetch;
  readonly now: () => Date;
  /** Lets time pass between two questions to the service; rejects on Ctrl-C. */
  readonly pause: (milliseconds: number) => Promise<void>;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
};
