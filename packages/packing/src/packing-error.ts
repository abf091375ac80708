export type PackingIssue = { readonly path: string; readonly message: string };

/** Thrown if a project cannot be packed. `reason` is a stable identifier; `hint` says what to do. */
export class PackingError extends Error {
  override readonly name = 'PackingError';
  readonly reason: string;
  readonly hint: string | null;
  readonly issues: readonly PackingIssue[];

  constructor(reason: string, message: string, hint: string | null = null, issues: readonly PackingIssue[] = []) {
    super(message);
    this.reason = reason;
    this.hint = hint;
    this.issues = issues;
  }
}
