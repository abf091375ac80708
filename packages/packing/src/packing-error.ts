/** Identifies the problem for scripts. botcli prints this value; docs/botcli.md lists all values. */
export type PackingErrorReason =
  | 'project-missing'
  | 'project-empty'
  | 'project-too-large'
  | 'project-unpackable'
  | 'project-changed'
  | 'ignore-file-invalid'
  | 'deploy-file-invalid';

export type PackingIssue = { readonly path: string; readonly message: string };

/** Thrown if a project cannot be packed. `hint` says what to do. */
export class PackingError extends Error {
  override readonly name = 'PackingError';
  readonly reason: PackingErrorReason;
  readonly hint: string | null;
  readonly issues: readonly PackingIssue[];

  constructor(
    reason: PackingErrorReason,
    message: string,
    hint: string | null = null,
    issues: readonly PackingIssue[] = [],
  ) {
    super(message);
    this.reason = reason;
    this.hint = hint;
    this.issues = issues;
  }
}
