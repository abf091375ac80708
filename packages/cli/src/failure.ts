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

type Issue = { readonly path: string; readonly message: string };

/** Ran and failed: exit status 1. `reason` is a stable word for programs. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly reason: string;
  readonly hint: string | null;
  /** All that is wrong with what was given, where there is more to say than one sentence. */
  readonly issues: readonly Issue[];

  constructor(reason: string, message: string, hint: string | null = null, issues: readonly Issue[] = []) {
    super(message);
    this.reason = reason;
    this.hint = hint;
    this.issues = issues;
  }
}

/** The person pressed Ctrl-C: exit status 130. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';

  constructor() {
    super('Interrupted.');
  }
}
