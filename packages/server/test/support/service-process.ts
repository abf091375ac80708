import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export type ApiResponse = { readonly status: number; readonly body: unknown };

export type ServerProcess = {
  readonly number: number;
  readonly pid: number | undefined;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly exitedAt: () => number | null;
  readonly readyAt: () => number | null;
  /** Resolves when the process is ready, or when it exits before it is ready. */
  readonly ready: Promise<void>;
  readonly exited: Promise<number | null>;
  readonly signal: (signal: NodeJS.Signals) => void;
  /** Sends SIGSTOP and waits until the process is stopped, so that its state can be inspected before a kill. */
  readonly freeze: () => void;
};

/** The built service on one data directory and port, which can be killed and started again. */
export type ServiceProcess = {
  readonly url: string;
  readonly organization: string;
  readonly dataDirectory: string;
  readonly publicKey: string;
  readonly privateKey: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly processes: readonly ServerProcess[];
  readonly current: () => ServerProcess;
  /** `changes` are environment variables of this process only. */
  readonly start: (changes?: Readonly<Record<string, string>>) => ServerProcess;
  /**
   * Resolves when a process that started after process number `after` is ready. Processes are numbered in the order in which
   * they start. Without `after`, resolves when the newest process is ready.
   */
  readonly ready: (after?: number) => Promise<void>;
  /** Sends a request to the API. Returns null if the connection failed. */
  readonly call: (method: string, path: string, key: string, body?: unknown) => Promise<ApiResponse | null>;
  readonly logFile: string;
};

export function createServiceProcess(options: {
  readonly directory: string;
  /** Directories of agents. If omitted, the service uses its default agents. */
  readonly agents?: readonly string[];
  readonly organization?: string;
  readonly port: number;
  /** A shell command that starts the service in `directory`; by default, the built program. */
  readonly command?: string;
  /** Environment variables in addition to the variables of every test service. */
  readonly environment?: Readonly<Record<string, string>>;
}): ServiceProcess {
  const { directory, port, command } = options;
  const started: readonly [string, string[]] =
    command === undefined ? [process.execPath, [program]] : ['/bin/sh', ['-c', command]];
  const dataDirectory = join(directory, 'data');
  const logFile = join(directory, 'log');
  const log = createWriteStream(logFile, { flags: 'a' });
  const [privateKey, publicKey] = [`sk_${'p'.repeat(40)}`, `pk_${'q'.repeat(40)}`];
  const { organization = 'test-org' } = options;
  const processes: ServerProcess[] = [];
  const events = new EventEmitter().setMaxListeners(0);
  const environment: Readonly<Record<string, string>> = {
    PATH: process.execPath.replace(/\/[^/]+$/, ''),
    HOME: directory,
    BOTHOST_PORT: String(port),
    BOTHOST_DATA_DIR: dataDirectory,
    ...(options.agents === undefined ? {} : { BOTHOST_AGENTS: options.agents.join(',') }),
    BOTHOST_BOOTSTRAP_ORGANIZATION: organization,
    BOTHOST_BOOTSTRAP_PRIVATE_KEY: privateKey,
    BOTHOST_BOOTSTRAP_PUBLIC_KEY: publicKey,
    BOTHOST_SHUTDOWN_GRACE: '0',
    // Set a small disk reserve, because tests also run on a disk that is nearly full.
    BOTHOST_DISK_RESERVE_MB: '16',
    ...options.environment,
  };

  function start(changes: Readonly<Record<string, string>> = {}): ServerProcess {
    const child = spawn(...started, {
      cwd: directory,
      env: { ...environment, ...changes },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const server = lifeOf(child, processes.length);
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    processes.push(server);
    void server.ready.then(() => events.emit('ready'));
    return server;
  }

  const current = () => {
    const server = processes.at(-1);
    if (server === undefined) throw new Error('The service was never started.');
    return server;
  };

  return {
    url: `http://127.0.0.1:${port}`,
    organization,
    dataDirectory,
    publicKey,
    privateKey,
    environment,
    processes,
    current,
    start,
    ready: async (after = -1) => {
      while (current().number <= after || current().readyAt() === null) await once(events, 'ready');
    },
    call: (method, path, key, body) => call({ port, method, path, key, body }),
    logFile,
  };
}

function lifeOf(child: ChildProcess, number: number): ServerProcess {
  const startedAt = Date.now();
  let exitedAt: number | null = null;
  let readyAt: number | null = null;
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      exitedAt ??= Date.now();
      resolve(code);
    });
  });
  let output = '';
  const ready = new Promise<void>((resolve) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      if (readyAt !== null) return;
      output += chunk.toString();
      if (!output.includes('bothost is ready')) return;
      readyAt = Date.now();
      resolve();
    });
    void exited.then(() => resolve());
  });
  return {
    number,
    pid: child.pid,
    startedAt,
    exitedAt: () => exitedAt,
    readyAt: () => readyAt,
    ready,
    exited,
    signal: (signal) => {
      if (signal === 'SIGKILL') exitedAt ??= Date.now();
      child.kill(signal);
    },
    freeze: () => {
      child.kill('SIGSTOP');
      while (child.pid !== undefined && isRunning(child.pid)) {}
    },
  };
}

/**
 * Returns false for a stopped process and for a zombie. In /proc/pid/stat, the state follows the process name in
 * parentheses (proc_pid_stat(5)).
 */
function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !/^[TtZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

/** Opens a connection for each request, because a pooled connection could belong to a killed process. */
async function call(options: {
  readonly port: number;
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly body: unknown;
}): Promise<ApiResponse | null> {
  const { port, method, path, key, body } = options;
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    authorization: `Bearer ${key}`,
    ...(payload === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
  };
  try {
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false });
    sent.end(payload);
    const [response] = await once(sent, 'response');
    const body = await text(response);
    return { status: response.statusCode, body: body === '' ? null : JSON.parse(body) };
  } catch {
    return null;
  }
}
