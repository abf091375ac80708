/**
 * The reader of a pipe may have seen enough (`| head`): that is no failure, and nobody is left to be told. The signal
 * tells those that would write on. A disk that is full is one: what was done stays done, and the status is 1.
 */
export function tolerateClosedReader(stream: NodeJS.WriteStream): AbortSignal {
  const closed = new AbortController();
  stream.on('error', (error: NodeJS.ErrnoException) => {
    closed.abort();
    if (error.code === 'EPIPE' || stream === process.stderr) return;
    process.stderr.write(`error: Standard output cannot be written (${error.code}).\n`);
    process.once('exit', () => {
      process.exitCode = 1;
    });
  });
  return closed.signal;
}
