import type { FailureReason } from '../failure.ts';

/** The printed fields of a failure. `code` and `reason` are for programs, `message` and `hint` for people. */
export type FailureDescription = {
  readonly code: string;
  readonly reason: string;
  readonly message: string;
  readonly requestId: string | null;
  readonly issues: readonly { readonly path: string; readonly message: string }[];
  readonly hint: string | null;
  readonly details: Readonly<Record<string, unknown>> | null;
};

/** Describes a failure of botcli itself. `code` and `reason` are equal, because only the service has separate codes. */
export function describeLocalFailure(
  reason: FailureReason,
  message: string,
  hint: string | null = null,
): FailureDescription {
  return { code: reason, reason, message, requestId: null, issues: [], hint, details: null };
}
