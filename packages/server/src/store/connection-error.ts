/** Node's codes of a connection that cannot be made or broke. ENOENT only counts for `connect`: the socket is not there. */
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
 * SQLSTATE (PostgreSQL appendix A): shut down, crashed, starting up, timed-out sessions, and no place for another
 * connection. Class 08 is tested by its prefix.
 */
const sqlStates = new Set(['57P01', '57P02', '57P03', '57P05', '25P03', '25P04', '53300']);

/** What `pg` and `pg-pool` raise without any code. */
const messages =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed|Cannot use a pool after calling end)/;

/** Whether the database was out of reach, so that the same request may succeed later (HTTP 503), as opposed to refused. */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError) return error.errors.some(isConnectionError);
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (code === 'ENOENT') return 'syscall' in error && error.syscall === 'connect';
  if (code !== '') return socketCodes.has(code) || sqlStates.has(code) || /^08.{3}$/.test(code);
  return messages.test(error.message);
}

/** SQLSTATE of a query that lost against others or against the clock: cancelled, no lock in time, deadlock, serialization. */
const passingStates = new Set(['57014', '55P03', '40P01', '40001']);

/** Whether the same write may well succeed later: the database is away, full or busy, and the write itself is right. */
export function isPassingError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : null;
  return isConnectionError(error) || isDiskFullError(error) || (typeof code === 'string' && passingStates.has(code));
}

/** Whether the database could not write because its disk is full (SQLSTATE 53100): also a matter of later (HTTP 503). */
export function isDiskFullError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '53100';
}
