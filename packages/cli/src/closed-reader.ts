/** The reader of a pipe may have seen enough (`| head`): that is no failure, and nobody is left to be told. */
export function tolerateClosedReader(stream: NodeJS.WriteStream): void {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}
