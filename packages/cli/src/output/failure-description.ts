/** A failure as it is printed: `code` and `reason` for programs, the rest for people. */
export type FailureDescription = {
  readonly code: string;
  readonly reason: string;
  readonly message: string;
  readonly requestId: string | null;
  readonly issues: readonly { readonly path: string; readonly message: string }[];
  readonly hint: string | null;
  readonly details: Readonly<Record<string, unknown>> | null;
};

/** Describes a failure that the service did not report; its code is its reason. */
export function describeLocalFailure(reason: string, message: string, hint: string | null = null): FailureDescription {
  return { code: reason, reason, message, requestId: null, issues: [], hint, details: null };
}
