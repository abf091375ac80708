import { createHash } from 'node:crypto';
import { createServer } from 'node:net';
import { readProcFile } from '../proc/read-proc-file.ts';

const firstPort = 16_384;
const minPorts = 1024;

export type PortReservations = {
  readonly reserve: (name: string) => Promise<number>;
  readonly release: (port: number) => void;
};

/** Reserves ports while bots start. `taken` returns ports that must not be reserved although they may be free. */
export function createPortReservations(taken: () => readonly number[]): PortReservations {
  const reserved = new Set<number>();
  return {
    reserve: async (name) => {
      for (;;) {
        const port = await findFreePort(name, new Set([...reserved, ...taken()]));
        if (reserved.has(port)) continue;
        reserved.add(port);
        return port;
      }
    },
    release: (port) => reserved.delete(port),
  };
}

/**
 * Returns a loopback port that has no listener and is not in `taken`. Another process can still take the port. If possible, the
 * port is below the ephemeral ports, so that no outgoing connection gets it as its local port. The search begins at a port
 * derived from `name`, so that servers on one machine rarely choose the same port.
 */
export async function findFreePort(name: string, taken: ReadonlySet<number>): Promise<number> {
  const count = firstEphemeralPort() - firstPort;
  if (count >= minPorts) {
    const first = createHash('sha256').update(name).digest().readUInt32BE() % count;
    for (let step = 0; step < count; step++) {
      const port = firstPort + ((first + step) % count);
      if (!taken.has(port) && (await tryPort(port)) !== null) return port;
    }
  }
  for (;;) {
    const port = await tryPort(0);
    if (port === null) throw new Error('No TCP port is free on the loopback interface of this machine.');
    if (!taken.has(port)) return port;
  }
}

function firstEphemeralPort(): number {
  return Number.parseInt(readProcFile('/proc/sys/net/ipv4/ip_local_port_range') ?? '32768', 10);
}

/** Binds a port and releases it again. Port 0 lets the kernel choose. Null if the port is taken. */
function tryPort(port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(address === null || typeof address === 'string' ? null : address.port));
    });
  });
}
