/** Whether the error has one of the codes, such as `ENOENT` of Node.js or an SQLSTATE of PostgreSQL. */
export function hasErrorCode(error: unknown, ...codes: readonly string[]): error is Error {
  return error instanceof Error && 'code' in error && codes.some((code) => code === error.code);
}
