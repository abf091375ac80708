import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { processIdentitySchema } from '../proc/process-identity.ts';

const statusSchema = z.object({
  event: z.literal('status'),
  state: z.enum(['importing', 'ready', 'failed', 'ended']),
  /** Why the fork server failed or ended, as a sentence. It may contain text from the bot. */
  reason: z.string().nullable(),
  fingerprint: z.string(),
  level: z.enum(['module', 'libraries']),
  /** Library modules that the fork server has imported. Empty until it reports that its import succeeded or failed. */
  modules: z.array(z.string()),
  process: processIdentitySchema.nullable(),
});

const eventSchema = z.discriminatedUnion('event', [
  statusSchema,
  z.object({ event: z.literal('forked'), instance: z.string(), ...processIdentitySchema.shape }),
  z.object({ event: z.literal('failed'), instance: z.string(), reason: z.string() }),
  z.object({ event: z.literal('modules'), modules: z.array(z.string()) }),
]);

export type ForkServerStatus = Readonly<z.infer<typeof statusSchema>>;
export type SupervisorEvent = z.infer<typeof eventSchema>;

export type ForkRequest = {
  readonly instance: string;
  readonly output: string;
  readonly exit: string;
  readonly uid: number | null;
  /** Directories to mount for the instance, by mount point. */
  readonly mounts: Readonly<Record<string, string>>;
  readonly cgroups: readonly string[];
  /** `NAME=value` by which the instance's processes are found. Null if their account or control group identifies them. */
  readonly mark: string | null;
  readonly environment: Readonly<Record<string, string>>;
};

export type SupervisorRequest =
  | { readonly do: 'status' }
  | ({ readonly do: 'fork' } & ForkRequest)
  | { readonly do: 'go' | 'abandon'; readonly instance: string };

export type SupervisorConnection = {
  readonly send: (order: SupervisorRequest) => void;
  readonly close: () => void;
};

const retryMs = 5;

/**
 * Connects to a fork server's supervisor, which may not be listening yet. Returns null if the supervisor has ended or does not
 * listen in time, for example because a bot with the service's account has deleted the socket. `onClose` is called once, when
 * an established connection ends.
 */
export async function connectSupervisor(options: {
  readonly path: string;
  readonly isAlive: () => boolean;
  readonly timeoutMs: number;
  readonly onEvent: (event: SupervisorEvent) => void;
  readonly onClose: () => void;
}): Promise<SupervisorConnection | null> {
  const deadline = performance.now() + options.timeoutMs;
  let socket = await tryConnect(options.path);
  while (socket === null) {
    if (!options.isAlive() || performance.now() > deadline) return null;
    await delay(retryMs);
    socket = await tryConnect(options.path);
  }
  const connected = socket;
  connected.on('error', () => undefined);
  connected.once('close', options.onClose);
  const lines = createInterface({ input: connected });
  // The readline interface also emits the errors of its input socket. An error event without a listener would end the server.
  lines.on('error', () => undefined);
  lines.on('line', (line) => {
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

/** Parses a line from the supervisor. Returns null if this version of the service does not know the message. */
function parseEvent(line: string): SupervisorEvent | null {
  try {
    return eventSchema.parse(JSON.parse(line));
  } catch {
    return null;
  }
}
