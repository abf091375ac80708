import type { ProgramOptions, SpawnerEvent } from './spawner-messages.ts';
import { createSpawnerProcess, SpawnerExitedError } from './spawner-process.ts';

export type RunOptions = ProgramOptions & {
  /**
   * Time in milliseconds without standard output after which the program is killed. Standard error does not count, because `du`
   * can write errors about a tenant's files for as long as the tenant wants. Default: no limit.
   */
  readonly stallMs?: number;
  readonly signal?: AbortSignal;
  /** Whether this process may exit before the program ends, as after `unref` of a child process. Default: no. */
  readonly unref?: boolean;
};

export type ProgramExit = {
  /** The exit status, or null if a signal ended the program. */
  readonly code: number | null;
  readonly signal: string | null;
};

export type ProgramResult = ProgramExit & {
  /** Standard output. A program that prints more than 64 Mi characters is killed. */
  readonly stdout: string;
  /** Standard error, at most its first 10,000 characters. */
  readonly stderr: string;
};

export type StartOptions = ProgramOptions & {
  /** The file to which standard output and standard error are appended. */
  readonly outputPath: string;
  /** An existing file, which is opened as descriptor 3 of the program, so that the program can write its exit status. */
  readonly exitPath: string;
  /** Text for the program's standard input, which stays open until `closeInput`. */
  readonly input: string;
};

/** A program in a session of its own (setsid(2)), which survives the server. */
export type StartedProgram = {
  readonly pid: number;
  /** The start time of the process, in clock ticks since boot (proc_pid_stat(5)). */
  readonly startTicks: number;
  /** Null while the program runs. `unknown` if the spawner has exited, because nothing then reports the end of the program. */
  readonly end: () => ProgramExit | 'unknown' | null;
  readonly ended: Promise<ProgramExit | 'unknown'>;
  readonly closeInput: (text: string) => void;
  readonly kill: () => void;
};

const spawner = createSpawnerProcess();

/** Returns the process id of the spawner, or null if no spawner is running. */
export const getSpawnerPid = spawner.pid;

/**
 * Runs a program to its end. Rejects if the program cannot be started; the error has a `code` such as ENOENT. If the spawner
 * process exits meanwhile, a new spawner process runs the program a second time.
 */
export function runProgram(command: readonly string[], options: RunOptions): Promise<ProgramResult> {
  return withNextSpawner(() => {
    const running = run(command, options);
    return options.unref === true ? running : spawner.keepAliveDuring(running);
  });
}

/**
 * Starts a program that may outlive the calling process. Rejects if the program cannot be started. If the spawner process exits
 * before it confirms the start, a new spawner process starts the program a second time. The program must therefore do nothing
 * before it has read all of its input.
 */
export function startProgram(command: readonly string[], options: StartOptions): Promise<StartedProgram> {
  return withNextSpawner(() => spawner.keepAliveDuring(start(command, options)));
}

/** Repeats a request if the spawner process exits before it responds. */
function withNextSpawner<T>(request: () => Promise<T>): Promise<T> {
  return request().catch((error: unknown) => {
    if (error instanceof SpawnerExitedError) return request();
    throw error;
  });
}

async function run(command: readonly string[], settings: RunOptions): Promise<ProgramResult> {
  const { stallMs, signal, unref: _, ...options } = settings;
  signal?.throwIfAborted();
  const program = spawner.openChannel();
  const kill = () => program.send({ type: 'kill' });
  try {
    return await new Promise<ProgramResult>((resolve, reject) => {
      program.listen({
        onEvent: (event) => (event.type === 'completed' ? resolve(event.result) : reject(startError(event))),
        onLost: reject,
      });
      program.send({ type: 'run', command, options, stallMs });
      signal?.addEventListener('abort', kill, { once: true });
    });
  } finally {
    signal?.removeEventListener('abort', kill);
    program.close();
  }
}

async function start(command: readonly string[], settings: StartOptions): Promise<StartedProgram> {
  const { outputPath, exitPath, input, ...options } = settings;
  const program = spawner.openChannel();
  let end: ProgramExit | 'unknown' | null = null;
  return new Promise<StartedProgram>((resolve, reject) => {
    const ended = new Promise<ProgramExit | 'unknown'>((resolveEnded) => {
      const finish = (known: ProgramExit | 'unknown') => {
        program.close();
        end = known;
        resolveEnded(known);
      };
      program.listen({
        onEvent: (event) => {
          if (event.type === 'started') {
            const { pid, startTicks } = event;
            resolve({ pid, startTicks, end: () => end, ended, closeInput, kill });
          } else if (event.type === 'exited') {
            finish(event.exit);
          } else {
            reject(startError(event));
            finish('unknown');
          }
        },
        onLost: (error) => {
          reject(error);
          finish('unknown');
        },
      });
    });
    const closeInput = (text: string) => {
      if (end === null) program.send({ type: 'closeInput', text });
    };
    const kill = () => {
      if (end === null) program.send({ type: 'kill' });
    };
    program.send({ type: 'start', command, options, outputPath, exitPath, input });
  });
}

function startError(event: SpawnerEvent): Error {
  if (event.type !== 'failed') return new Error(`The spawner sent the unexpected event "${event.type}".`);
  return Object.assign(new Error(event.message), { code: event.code });
}
