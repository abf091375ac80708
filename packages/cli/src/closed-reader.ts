/**
 * The reader of a pipe may have seen enough (`| head`): that is no failure, and nobody is left to be told. The signal
 * tells those that would write on.
 */
export function tolerateClosedReader(stream: NodeJS.WriteStream): AbortSignal {
  const closed = new AbortController();
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    closed.abort();
  });
  return closed.signal;
}
