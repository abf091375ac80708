import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import { readProcFile } from '../proc/read-proc-file.ts';

const FIRST_PORT = 16_384;
const MIN_PORTS = 1024;

/**
 * Returns a loopback port that has no listener and is not in `taken`. The port is not reserved, so a start retries if
 * another process takes it. It is below the kernel's range of ephemeral ports, so that no outgoing connection can take
 * it or connect to itself. The search begins at a port derived from `name`, so that servers on one machine rarely
 * choose the same port.
 */
export async function findFreePort(name: string, taken: ReadonlySet<number>): Promise<number> {
  const count = firstEphemeralPort() - FIRST_PORT;
  if (count >= MIN_PORTS) {
    const first = createHash('sha256').update(name).digest().readUInt32BE() % count;
    for (let step = 0; step < count; step++) {
      const port = FIRST_PORT + ((first + step) % count);
      if (!taken.has(port) && (await tryPort(port)) !== null) return port;
    }
  }
  for (;;) {
    const port = await tryPort(0);
    if (port === null) throw new Error('No port is free.');
    if (!taken.has(port)) return port;
  }
}

function firstEphemeralPort(): number {
  return Number.parseInt(readProcFile('/proc/sys/net/ipv4/ip_local_port_range') ?? '32768', 10);
}

/** Binds a port and releases it again. Port 0 lets the kernel choose. Null if the port is taken. */
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
