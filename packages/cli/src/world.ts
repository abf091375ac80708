import type { Environment } from './config.ts';

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
};

/** Questions to a person. Each rejects with `Interrupted` when the person presses Ctrl-C. */
export type Ask = {
  /** Nothing of the answer is shown. */
  secret(question: string): Promise<string>;
  confirm(question: string): Promise<boolean>;
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
