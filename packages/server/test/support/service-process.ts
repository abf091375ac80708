import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export type Answer = { readonly status: number; readonly body: unknown };

/** One process of the server, from its start to its death. */
export type Life = {
  readonly number: number;
  readonly pid: number | undefined;
  /** Milliseconds since the epoch. */
  readonly bornAt: number;
  readonly diedAt: () => number | null;
  readonly readyAt: () => number | null;
  /** Resolves when it is ready, or dead before that. */
  readonly ready: Promise<void>;
  readonly dead: Promise<number | null>;
  readonly signal: (signal: NodeJS.Signals) => void;
  /** Stops it between two instructions, so that the moment of its death can be looked at in peace. */
  readonly freeze: () => void;
};

/** The built program on one data directory, killed and started again and again. */
export type ServiceProcess = {
  readonly url: string;
  readonly organization: string;
  readonly dataDirectory: string;
  readonly publicKey: string;
  readonly privateKey: string;
  readonly lives: readonly Life[];
  readonly current: () => Life;
  readonly start: () => Life;
  /** Resolves when a life after that one is ready; without one, when the newest is. */
  readonly ready: (after?: number) => Promise<void>;
  /** Null: the connection broke, or there was none. */
  readonly call: (method: string, path: string, key: string, body?: unknown) => Promise<Answer | null>;
  readonly logFile: string;
};

export function serviceProcess(options: {
  readonly directory: string;
  readonly agents: readonly string[];
  readonly port: number;
  /** A shell's line, in `directory`, that becomes the service; default: the program by itself. */
  readonly command?: string;
  /** Settings beside those that every service of a test has. */
  readonly environment?: Readonly<Record<string, string>>;
}): ServiceProcess {
  const { directory, port, command } = options;
  const started: readonly [string, string[]] =
    command === undefined ? [process.execPath, [program]] : ['/bin/sh', ['-c', command]];
  const dataDirectory = join(directory, 'data');
  const logFile = join(directory, 'log');
  const log = createWriteStream(logFile, { flags: 'a' });
  const [privateKey, publicKey, organization] = [`sk_${'p'.repeat(40)}`, `pk_${'q'.repeat(40)}`, 'test-org'];
  const lives: Life[] = [];
  const events = new EventEmitter().setMaxListeners(0);
  const environment = {
    PATH: process.execPath.replace(/\/[^/]+$/, ''),
    HOME: directory,
    BOTHOST_PORT: String(port),
    BOTHOST_DATA_DIR: dataDirectory,
    BOTHOST_AGENTS: options.agents.join(','),
    BOTHOST_BOOTSTRAP_ORGANIZATION: organization,
    BOTHOST_BOOTSTRAP_PRIVATE_KEY: privateKey,
    BOTHOST_BOOTSTRAP_PUBLIC_KEY: publicKey,
    BOTHOST_SHUTDOWN_GRACE: '0',
    ...options.environment,
  };

  function start(): Life {
    const child = spawn(...started, {
      cwd: directory,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const life = lifeOf(child, lives.length);
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    lives.push(life);
    void life.ready.then(() => events.emit('ready'));
    return life;
  }

  const current = () => {
    const life = lives.at(-1);
    if (life === undefined) throw new Error('the service was never started');
    return life;
  };

  return {
    url: `http://127.0.0.1:${port}`,
    organization,
    dataDirectory,
    publicKey,
    privateKey,
    lives,
    current,
    start,
    ready: async (after = -1) => {
      while (current().number <= after || current().readyAt() === null) await once(events, 'ready');
    },
    call: (method, path, key, body) => call({ port, method, path, key, body }),
    logFile,
  };
}

function lifeOf(child: ChildProcess, number: number): Life {
  const bornAt = Date.now();
  let diedAt: number | null = null;
  let readyAt: number | null = null;
  const dead = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => {
      diedAt ??= Date.now();
      resolve(code);
    });
  });
  let said = '';
  const ready = new Promise<void>((resolve) => {
    child.stdout?.on('data', (chunk: Buffer) => {
      if (readyAt !== null) return;
      said += chunk.toString();
      if (!said.includes('bothost is ready')) return;
      readyAt = Date.now();
      resolve();
    });
    void dead.then(() => resolve());
  });
  return {
    number,
    pid: child.pid,
    bornAt,
    diedAt: () => diedAt,
    readyAt: () => readyAt,
    ready,
    dead,
    signal: (signal) => {
      if (signal === 'SIGKILL') diedAt ??= Date.now();
      child.kill(signal);
    },
    freeze: () => {
      child.kill('SIGSTOP');
      while (child.pid !== undefined && isRunning(child.pid)) {}
    },
  };
}

/** proc_pid_stat(5): the state follows the name, which is in parentheses. */
function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return !/^[TtZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

/** A connection for each request: a pooled one could be of a server that is gone. */
async function call(options: {
  readonly port: number;
  readonly method: string;
  readonly path: string;
  readonly key: string;
  readonly body: unknown;
}): Promise<Answer | null> {
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
    const said = await text(response);
    return { status: response.statusCode, body: said === '' ? null : JSON.parse(said) };
  } catch {
    return null;
  }
}
