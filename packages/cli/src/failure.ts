/** The command line is invalid, or a prompt is needed and there is no terminal: exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** What to do instead: a sentence. */
  readonly hint: string | null;

  constructor(message: string, hint: string | null = null) {
    super(message);
    this.hint = hint;
  }
}

/** One problem; `path` is its location, such as a file or a key. */
export type Issue = { readonly path: string; readonly message: string };

/** The command failed: exit status 1. `reason` is a stable word for programs. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly reason: string;
  readonly hint: string | null;
  /** All problems, if there are several. */
  readonly issues: readonly Issue[];
  /** More data for programs, in JSON mode. */
  readonly details: Readonly<Record<string, unknown>> | null;

  constructor(
    reason: string,
    message: string,
    hint: string | null = null,
    issues: readonly Issue[] = [],
    details: Readonly<Record<string, unknown>> | null = null,
  ) {
    super(message);
    this.reason = reason;
    this.hint = hint;
    this.issues = issues;
    this.details = details;
  }
}

/** The user pressed Ctrl-C: exit status 130. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';
  /** What was done up to then, as a sentence; null if the command does not say. */
  readonly result: string | null;

  constructor(result: string | null = null) {
    super(result === null ? 'Canceled.' : `Canceled. ${result}`);
    this.result = result;
  }
}
