import type { ErrorReason } from '@bothost/contract';
import type { failureReasons } from './failure-reasons.ts';

/**
 * A failure reason of botcli or of the service. botcli also reports reasons of the service: for a problem that it detects
 * before a request, or for an error to which it adds a better hint.
 */
export type FailureReason = keyof typeof failureReasons | ErrorReason;

/** Thrown if the command line is invalid, or if a prompt is needed and there is no terminal. The exit status is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly hint: string | null;

  constructor(message: string, hint: string | null = null) {
    super(message);
    this.hint = hint;
  }
}

/** `path` is the location of the problem, such as a file or a key. */
export type LocatedIssue = { readonly path: string; readonly message: string };

type FailureOptions = {
  readonly issues?: readonly LocatedIssue[];
  /** Data for scripts. Printed only with `--json`. */
  readonly details?: Readonly<Record<string, unknown>> | null;
  /** The original error, for debuggers; never printed. Omit one that quotes secrets, such as that of a secret file's parser. */
  readonly cause?: unknown;
};

/** Thrown if the command fails. The exit status is 1. `reason` is a stable identifier for scripts. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly reason: FailureReason;
  readonly hint: string | null;
  readonly issues: readonly LocatedIssue[];
  readonly details: Readonly<Record<string, unknown>> | null;

  constructor(
    reason: FailureReason,
    message: string,
    hint: string | null = null,
    { issues = [], details = null, ...errorOptions }: FailureOptions = {},
  ) {
    super(message, errorOptions);
    this.reason = reason;
    this.hint = hint;
    this.issues = issues;
    this.details = details;
  }
}

/** Thrown if the user pressed Ctrl-C. The exit status is 130. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
  /** A sentence about what was done before the interruption. Null if nothing was done. */
  readonly result: string | null;

  constructor(result: string | null = null) {
    super(result === null ? 'Canceled.' : `Canceled. ${result}`);
    this.result = result;
  }
}

/** The code of a system error, such as ENOENT. Null for other errors. */
export function getSystemErrorCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error ? String(error.code) : null;
}

/** Whether a system call failed, such as a write to a file. */
export function isSystemCallError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}
