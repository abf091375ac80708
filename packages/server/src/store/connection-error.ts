import { hasErrorCode } from './error-code.ts';

/** Error codes of failed and lost connections. ENOENT is checked separately: only a failed `connect` means a missing socket. */
const socketCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOTCONN',
]);

/**
 * SQLSTATE codes (PostgreSQL appendix A) of a server that shut down, crashed, is starting, ended a session at a time
 * limit, or has too many clients. Codes of class 08 (connection exception) are recognized by their prefix.
 */
const sqlStates = new Set(['57P01', '57P02', '57P03', '57P05', '25P03', '25P04', '53300']);

/** Messages of errors that `pg` and `pg-pool` raise without a code. */
const messages =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end)/;

/** Whether the database was unreachable, so that the same request may succeed later (HTTP 503). */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.some(isConnectionError);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code === 'ENOENT') return 'syscall' in error && error.syscall === 'connect';
  if (code !== '') return socketCodes.has(code) || sqlStates.has(code) || /^08.{3}$/.test(code);
  return messages.test(error.message);
}

/** SQLSTATE codes of a query that was canceled, timed out waiting for a lock, deadlocked, or failed to serialize. */
const passingStates = new Set(['57014', '55P03', '40P01', '40001']);

/** Whether the same write may succeed later because the database is unreachable, full or busy. */
export function isTransientError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return isConnectionError(error) || isDiskFullError(error) || (typeof code === 'string' && passingStates.has(code));
}

/** Whether the database's disk is full (SQLSTATE 53100; HTTP 507). */
export function isDiskFullError(error: unknown): boolean {
  return hasErrorCode(error, '53100');
}
