import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';

const identitySchema = z.object({ pid: z.int(), startTicks: z.number() });

const statusSchema = z.object({
  event: z.literal('status'),
  state: z.enum(['importing', 'ready', 'failed', 'ended']),
  /** Why the fork server failed or ended, as a sentence. It may contain text from the bot. */
  reason: z.string().nullable(),
  fingerprint: z.string(),
  level: z.enum(['module', 'libraries']),
  /** Library modules that had been imported when the import ended. */
  modules: z.array(z.string()),
  /** The process of the fork server. Null after it has ended. */
  process: identitySchema.nullable(),
});

const eventSchema = z.discriminatedUnion('event', [
  statusSchema,
  z.object({ event: z.literal('forked'), instance: z.string(), ...identitySchema.shape }),
  z.object({ event: z.literal('failed'), instance: z.string(), reason: z.string() }),
  /** Names of the modules that a session imported. */
  z.object({ event: z.literal('modules'), modules: z.array(z.string()) }),
]);

export type ForkServerStatus = Readonly<z.infer<typeof statusSchema>>;
export type SupervisorEvent = z.infer<typeof eventSchema>;

export type ForkOrder = {
  readonly instance: string;
  readonly output: string;
  readonly exit: string;
  readonly uid: number | null;
  /** Paths of the `cgroup.procs` files of the instance's control groups. */
  readonly cgroups: readonly string[];
  /**
   * `NAME=value`, which must be visible in the initial environment of the process. Null if processes are recognized in
   * another way.
   */
  readonly mark: string | null;
  readonly environment: Readonly<Record<string, string>>;
};

export type SupervisorOrder =
  | { readonly do: 'status' }
  | ({ readonly do: 'fork' } & ForkOrder)
  | { readonly do: 'go' | 'abandon'; readonly instance: string };

export type SupervisorConnection = {
  readonly send: (order: SupervisorOrder) => void;
  readonly close: () => void;
};

const RETRY_MILLISECONDS = 5;

/**
 * Connects to the supervisor of a fork server. Retries while `isAlive`, because a new supervisor takes a moment until
 * it listens. Null if the supervisor has ended, or does not listen in time: a bot that shares the account of the
 * service can have deleted the socket. `onClose` is called once, after an established connection was lost or closed.
 */
export async function connectSupervisor(options: {
  readonly path: string;
  readonly isAlive: () => boolean;
  readonly timeoutMilliseconds: number;
  readonly onEvent: (event: SupervisorEvent) => void;
  readonly onClose: () => void;
}): Promise<SupervisorConnection | null> {
  const deadline = performance.now() + options.timeoutMilliseconds;
  let socket = await tryConnect(options.path);
  while (socket === null) {
    if (!options.isAlive() || performance.now() > deadline) return null;
    await delay(RETRY_MILLISECONDS);
    socket = await tryConnect(options.path);
  }
  const connected = socket;
  connected.on('error', () => undefined);
  connected.once('close', options.onClose);
  createInterface({ input: connected }).on('line', (line) => {
    const event = parseEvent(line);
    if (event === null) connected.destroy();
    else options.onEvent(event);
  });
  return {
    send: (order) => {
      connected.write(`${JSON.stringify(order)}\n`);
    },
    close: () => {
      connected.destroy();
    },
  };
}

function tryConnect(path: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    socket.once('error', () => resolve(null));
    socket.once('connect', () => resolve(socket));
  });
}

/** Null for a message that this version does not understand. */
function parseEvent(line: string): SupervisorEvent | null {
  try {
    return eventSchema.parse(JSON.parse(line));
  } catch {
    return null;
  }
}
