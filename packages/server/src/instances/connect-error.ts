/** Whether a request failed because no connection could be established, for example because the connection was refused. */
export function isConnectError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && error.syscall === 'connect';
}
