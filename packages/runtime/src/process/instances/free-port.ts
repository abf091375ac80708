import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import { readProcFile } from '../proc/read-proc-file.ts';

const FIRST_PORT = 16_384;
const FEWEST_PORTS = 1024;

/**
 * A loopback port that nobody listens on now, and that is not one of `taken`. It is not held: see the retry at start. It
 * lies below the range from which the kernel takes ports for outgoing connections, so that none of those can take it in
 * between, nor a connection to it meet itself. `name` decides where the search begins, so that servers rarely meet.
 */
export async function findFreePort(name: string, taken: ReadonlySet<number>): Promise<number> {
  const count = firstEphemeralPort() - FIRST_PORT;
  if (count >= FEWEST_PORTS) {
    const first = createHash('sha256').update(name).digest().readUInt32BE() % count;
    for (let step = 0; step < count; step++) {
      const port = FIRST_PORT + ((first + step) % count);
      if (!taken.has(port) && (await tryPort(port)) !== null) return port;
    }
  }
  for (;;) {
    const port = await tryPort(0);
    if (port === null) throw new Error('no port is free');
    if (!taken.has(port)) return port;
  }
}

function firstEphemeralPort(): number {
  return Number.parseInt(readProcFile('/proc/sys/net/ipv4/ip_local_port_range') ?? '32768', 10);
}

/** Binds and lets go; null when it is taken. */
function tryPort(wanted: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen(wanted, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(address === null || typeof address === 'string' ? null : address.port));
    });
  });
}
