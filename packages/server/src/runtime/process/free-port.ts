import { createServer } from 'node:net';

/** A loopback port that nobody listens on now, and that is not one of `taken`. It is not held: see the retry at start. */
export async function findFreePort(taken: ReadonlySet<number>): Promise<number> {
  for (;;) {
    const port = await bindAnyPort();
    if (!taken.has(port)) return port;
  }
}

function bindAnyPort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => {
        if (address === null || typeof address === 'string') reject(new Error('no port was bound'));
        else resolve(address.port);
      });
    });
  });
}
