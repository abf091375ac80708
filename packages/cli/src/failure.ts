/** Called wrongly, or a question would have to be asked and nobody is there to answer: exit status 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  /** What to do instead, as a sentence. */
  readonly hint: string | null;

  constructor(message: string, hint: string | null = null) {
    super(message);
    this.hint = hint;
  }
}

/** One thing that is wrong; `path` says where, as a file or a key. */
export type Issue = { readonly path: string; readonly message: string };

/** Ran and failed: exit status 1. `reason` is a stable word for programs. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly reason: string;
  readonly hint: string | null;
  /** All that is wrong, where it is more than one thing. */
  readonly issues: readonly Issue[];
  /** More for programs. */
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

/** The person pressed Ctrl-C: exit status 130. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';

  constructor() {
    super('Interrupted.');
  }
}
