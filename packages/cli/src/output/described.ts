/** A failure in words: `code` and `reason` for programs, the rest for people. */
export type Described = {
  readonly code: string;
  readonly reason: string;
  readonly message: string;
  readonly requestId: string | null;
  readonly issues: readonly { readonly path: string; readonly message: string }[];
  readonly hint: string | null;
  readonly details: Readonly<Record<string, unknown>> | null;
};

/** A failure that no service was asked about: its word is its code. */
export function localFailure(reason: string, message: string, hint: string | null = null): Described {
  return { code: reason, reason, message, requestId: null, issues: [], hint, details: null };
}
