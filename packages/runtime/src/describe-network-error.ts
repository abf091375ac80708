/** Returns the code of an error, such as `ECONNREFUSED`, or its message. */
export function describeNetworkError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
}
