import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import {
  type SpawnerEvent,
  type SpawnerRequest,
  type SpawnerRequestMessage,
  spawnerEventMessageSchema,
} from './spawner-messages.ts';

const programPath = fileURLToPath(new URL('./spawner-program.cjs', import.meta.url));

/**
 * The spawner: a small Node process that starts programs for the server, so that a start does not block the server's event
 * loop. In a large process, fork(2) takes milliseconds. If a bot forks endlessly, starting another program can take up to a
 * second, because the kernel locks the libraries that both programs use.
 *
 * When the server exits, the spawner exits too, and the standard input of the programs that it started is closed.
 */
export type SpawnerProcess = {
  readonly pid: () => number | null;
  readonly openChannel: () => SpawnedProgramChannel;
  /** Keeps the server alive until `work` settles. A running spawner alone does not keep the server alive. */
  readonly keepAliveDuring: <T>(work: Promise<T>) => Promise<T>;
};

export type SpawnedProgramChannel = {
  /** Sends a request. Starts a spawner if there is none. */
  readonly send: (request: SpawnerRequest) => void;
  /** Calls the listener for each event of the channel's program, such as its start or exit, until `close` is called. */
  readonly listen: (listener: ProgramListener) => void;
  readonly close: () => void;
};

type ProgramListener = {
  readonly onEvent: (event: SpawnerEvent) => void;
  /**
   * The spawner process has exited (`SpawnerExitedError`) or could not be started. `onEvent` is not called again.
   */
  readonly onLost: (error: Error) => void;
};

export class SpawnerExitedError extends Error {}

/** Manages the spawner process. The first request starts the process, and the next request after its exit starts a new one. */
export function createSpawnerProcess(): SpawnerProcess {
  const listeners = new Map<number, ProgramListener>();
  let spawner: ChildProcess | null = null;
  let lastId = 0;
  let awaitedPrograms = 0;

  const updateReference = () => {
    if (awaitedPrograms === 0) spawner?.channel?.unref();
    else spawner?.channel?.ref();
  };

  const open = (): ChildProcess => {
    const opened = startSpawner();
    opened.on('message', (value) => {
      const message = spawnerEventMessageSchema.safeParse(value);
      // Kill a spawner that sends an unknown message, for example after an upgrade of its program. The next request then starts
      // a new spawner.
      if (!message.success) return void opened.kill('SIGKILL');
      listeners.get(message.data.id)?.onEvent(message.data.event);
    });
    const lose = (error: Error) => {
      if (spawner !== opened) return;
      spawner = null;
      for (const { onLost } of [...listeners.values()]) onLost(error);
    };
    opened.once('error', lose);
    opened.once('exit', (code, signal) =>
      lose(new SpawnerExitedError(`The spawner exited: ${signal ?? `status ${code}`}.`)),
    );
    return opened;
  };

  return {
    pid: () => spawner?.pid ?? null,

    openChannel: () => {
      lastId += 1;
      const id = lastId;
      return {
        listen: (listener) => listeners.set(id, listener),
        send: (request) => {
          if (spawner === null) {
            spawner = open();
            updateReference();
          }
          const message: SpawnerRequestMessage = { id, request };
          // Ignore a send error, because `onLost` already reports a spawner that has exited or could not be started. `send` is
          // undefined if the spawner could not be started.
          spawner.send?.(message, () => undefined);
        },
        close: () => listeners.delete(id),
      };
    },

    keepAliveDuring: async (work) => {
      awaitedPrograms += 1;
      updateReference();
      try {
        return await work;
      } finally {
        awaitedPrograms -= 1;
        updateReference();
      }
    },
  };
}

function startSpawner(): ChildProcess {
  // Do not detach the spawner: the niceness of its programs must be relative to the server, and niceness counts only within a
  // process session (sched(7)).
  const spawner = spawn(process.execPath, [programPath], {
    cwd: '/',
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  spawner.unref();
  return spawner;
}
