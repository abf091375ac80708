import { type ChildProcess, spawn } from 'node:child_process';

const maxOutputCharacters = 64 * 1024 * 1024;

/**
 * The program of the spawner, a small Node process that creates processes for the server. Creating a process blocks the creator
 * until the new process has executed its program, and execution waits for kernel locks of the program's files and libraries. Bots
 * use the same libraries and may hold these locks while they wait for a processor, so a bot that forks without end would block
 * the server's event loop for up to a second. A large process also takes milliseconds to fork.
 *
 * When the server exits, the spawner exits too, and its programs see the end of their input. The spawner ignores signals that a
 * terminal or service manager sends to both processes, because the server needs the spawner while it stops.
 */
const spawnerProgram = `
const { spawn } = require('node:child_process');
const { closeSync, openSync, readFileSync } = require('node:fs');
process.title = 'bothost-spawner';
process.once('disconnect', () => process.exit());
for (const signal of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM']) process.on(signal, () => undefined);
const children = new Map();
const add = (id, child, endEvent, output = () => ({})) => {
  children.set(id, child);
  const end = (message) => children.delete(id) && process.connected && process.send({ id, ...message });
  child.on('error', ({ message, code }) => end({ error: { message, code } }));
  child.once(endEvent, (code, signal) => end({ end: { code, signal, ...output() } }));
};
const requests = {
  run({ id, file, parameters, options, stallMs }) {
    const child = spawn(file, parameters, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let stdout = '';
    let stderr = '';
    add(id, child, 'close', () => ({ stdout, stderr }));
    const timer = stallMs && setTimeout(() => child.kill('SIGKILL'), stallMs);
    child.stdout?.setEncoding('utf8').on('data', (text) => {
      stdout += text;
      timer?.refresh();
      if (stdout.length > ${maxOutputCharacters}) child.kill('SIGKILL');
    });
    child.stderr?.setEncoding('utf8').on('data', (text) => {
      stderr = (stderr + text).slice(0, 10000);
    });
    child.once('close', () => clearTimeout(timer));
  },
  start({ id, file, parameters, options, outputPath, exitPath, input }) {
    const files = [];
    try {
      files.push(openSync(outputPath, 'a', 0o600), openSync(exitPath, 'r+'));
      const [output, exit] = files;
      const child = spawn(file, parameters, { ...options, detached: true, stdio: ['pipe', output, output, exit] });
      add(id, child, 'exit');
      if (child.pid === undefined) return;
      child.stdin.on('error', () => undefined).write(input);
      // Until this function returns, the process has its own entry in /proc, even if it has already ended.
      const stat = readFileSync('/proc/' + child.pid + '/stat', 'latin1');
      process.send({ id, pid: child.pid, startTicks: Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]) });
    } finally {
      files.forEach((file) => closeSync(file));
    }
  },
  closeInput: ({ id, text }) => children.get(id)?.stdin.end(text),
  kill: ({ id }) => children.get(id)?.kill('SIGKILL'),
};
process.on('message', (request) => {
  try {
    requests[request.type](request);
  } catch ({ message, code }) {
    process.send({ id: request.id, error: { message, code } });
  }
});
`;

type ProgramOptions = {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
};

export type RunOptions = ProgramOptions & {
  /** Time in milliseconds without output after which the program is killed. Default: no limit. */
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
  /** An existing file, which the program gets as descriptor 3, to write its exit status. */
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

type Message = {
  readonly id: number;
  readonly pid?: number;
  readonly startTicks?: number;
  readonly error?: { readonly message: string; readonly code?: string };
  readonly end?: ProgramResult;
};

class SpawnerExitedError extends Error {}

/** What to do with the messages about one program, and when the spawner has exited. */
type Listener = { readonly onMessage: (message: Message) => void; readonly onLost: (error: Error) => void };

const listeners = new Map<number, Listener>();
let spawner: ChildProcess | null = null;
let lastId = 0;
/** Number of programs for which this process stays alive. */
let awaitedPrograms = 0;

/**
 * Runs a program to its end. Rejects if it cannot be started; the error has a `code` such as ENOENT. The program may run twice,
 * because it is repeated if the spawner exits meanwhile.
 */
export function runProgram(command: readonly string[], options: RunOptions): Promise<ProgramResult> {
  return withNextSpawner(() => run(command, options));
}

/**
 * Starts a program that may outlive this process. Rejects if it cannot be started. The program must do nothing before it has read
 * all of its input, because it is started again if the spawner exits first.
 */
export function startProgram(command: readonly string[], options: StartOptions): Promise<StartedProgram> {
  return withNextSpawner(() => start(command, options));
}

/** The process id of the spawner, or null if there is none. */
export function getSpawnerPid(): number | null {
  return spawner?.pid ?? null;
}

/** Repeats a request if the spawner exits before it has answered. */
function withNextSpawner<T>(request: () => Promise<T>): Promise<T> {
  return request().catch((error: unknown) => {
    if (error instanceof SpawnerExitedError) return request();
    throw error;
  });
}

async function run(command: readonly string[], options: RunOptions): Promise<ProgramResult> {
  const { stallMs, signal, unref = false, ...programOptions } = options;
  signal?.throwIfAborted();
  const [file, ...parameters] = command;
  const id = nextId();
  const kill = () => send({ type: 'kill', id });
  if (!unref) keepAlive(1);
  try {
    return await new Promise<ProgramResult>((resolve, reject) => {
      listeners.set(id, {
        onMessage: ({ error, end }) => (end === undefined ? reject(spawnError(error)) : resolve(end)),
        onLost: reject,
      });
      send({ type: 'run', id, file, parameters, options: programOptions, stallMs });
      signal?.addEventListener('abort', kill, { once: true });
    });
  } finally {
    signal?.removeEventListener('abort', kill);
    listeners.delete(id);
    if (!unref) keepAlive(-1);
  }
}

async function start(command: readonly string[], options: StartOptions): Promise<StartedProgram> {
  const { outputPath, exitPath, input, ...programOptions } = options;
  const [file, ...parameters] = command;
  const id = nextId();
  let end: ProgramExit | 'unknown' | null = null;
  let resolveEnded: (end: ProgramExit | 'unknown') => void = () => undefined;
  const ended = new Promise<ProgramExit | 'unknown'>((resolve) => {
    resolveEnded = resolve;
  });
  const finish = (known: ProgramExit | 'unknown') => {
    listeners.delete(id);
    end = known;
    resolveEnded(known);
  };
  keepAlive(1);
  try {
    const identity = await new Promise<Pick<StartedProgram, 'pid' | 'startTicks'>>((resolve, reject) => {
      listeners.set(id, {
        onMessage: ({ pid, startTicks, end: known, error }) => {
          if (pid !== undefined && startTicks !== undefined) return resolve({ pid, startTicks });
          reject(spawnError(error));
          finish(known ?? 'unknown');
        },
        onLost: (error) => {
          reject(error);
          finish('unknown');
        },
      });
      send({ type: 'start', id, file, parameters, options: programOptions, outputPath, exitPath, input });
    });
    return {
      ...identity,
      end: () => end,
      ended,
      closeInput: (text) => end === null && send({ type: 'closeInput', id, text }),
      kill: () => end === null && send({ type: 'kill', id }),
    };
  } finally {
    keepAlive(-1);
  }
}

function nextId(): number {
  lastId += 1;
  return lastId;
}

function send(request: { readonly type: string; readonly id: number; readonly [field: string]: unknown }): void {
  spawner ??= openSpawner();
  // An error means that the spawner has exited or could not be started, which an event reports to the listeners. A spawner that
  // could not be started has no `send`.
  spawner.send?.(request, () => undefined);
}

function openSpawner(): ChildProcess {
  // Do not detach the spawner: the niceness of its programs must be relative to the server, and niceness counts only within a
  // process session (sched(7)).
  const opened = spawn(process.execPath, ['-e', spawnerProgram], {
    cwd: '/',
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  opened.unref();
  opened.channel?.unref();
  opened.on('message', (message: Message) => listeners.get(message.id)?.onMessage(message));
  const lose = (error: Error) => {
    if (spawner !== opened) return;
    spawner = null;
    for (const { onLost } of [...listeners.values()]) onLost(error);
  };
  opened.once('error', lose);
  opened.once('exit', (code, signal) =>
    lose(new SpawnerExitedError(`The spawner exited: ${signal ?? `status ${code}`}.`)),
  );
  if (awaitedPrograms > 0) opened.channel?.ref();
  return opened;
}

function keepAlive(change: 1 | -1): void {
  awaitedPrograms += change;
  if (awaitedPrograms === 0) spawner?.channel?.unref();
  else spawner?.channel?.ref();
}

function spawnError(error: Message['error']): Error {
  return Object.assign(new Error(error?.message ?? 'The program could not be started.'), { code: error?.code });
}
