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

/** Ran and failed: exit status 1. `reason` is a stable word for programs. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly reason: string;
  readonly hint: string | null;

  constructor(reason: string, message: string, hint: string | null = null) {
    super(message);
    this.reason = reason;
    this.hint = hint;
  }
}

/** The person pressed Ctrl-C: exit status 130. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted';

  constructor() {
    super('Interrupted.');
  }
}
