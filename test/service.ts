import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { execPath } from 'node:process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The built service as its operator runs it: a process with a data directory, a database and keys of its own. */
export interface Service {
  readonly origin: string;
  readonly privateKey: string;
  readonly publicKey: string;
  /** Holds the home directory and the data directory; gone after `close`. */
  readonly folder: string;
  /** For commands run beside the service: the built `botcli` on the path, and a home; nothing of whoever runs the tests. */
  readonly environment: Readonly<Record<string, string>>;
  /** Asks the private API; the answer's JSON. */
  readonly ask: (path: string, method?: string) => Promise<Record<string, unknown>>;
  readonly close: () => Promise<void>;
}

const root = fileURLToPath(new URL('../', import.meta.url));
/** The built `botcli`, for `node`. */
export const botcliProgram = join(root, 'packages/cli/bin/botcli.js');
/** A service that is not ready by then is stopped, and tells why; one that has projects to prepare takes longer. */
const startMilliseconds = 90_000;
const privateKey = `sk_${'p'.repeat(40)}`;
const publicKey = `pk_${'q'.repeat(40)}`;

/** Starts what `npm run build` made. `settings` are environment variables of the service. */
export async function startService(
  settings: Readonly<Record<string, string>> = {},
  timeoutMilliseconds = startMilliseconds,
): Promise<Service> {
  const folder = await mkdtemp(join(tmpdir(), 'bothost-service-'));
  // Bots and the database have accounts of their own when root runs this.
  await chmod(folder, 0o711);
  const programs = join(folder, 'programs');
  await mkdir(programs);
  await symlink(botcliProgram, join(programs, 'botcli'));
  const environment = {
    HOME: folder,
    BOTHOST_PORT: String(await freePort()),
    BOTHOST_DATA_DIR: join(folder, 'data'),
    BOTHOST_BOOTSTRAP_PRIVATE_KEY: privateKey,
    BOTHOST_BOOTSTRAP_PUBLIC_KEY: publicKey,
    BOTHOST_SHUTDOWN_GRACE: '0',
    ...settings,
    PATH: `${programs}:${settings['PATH'] ?? `${dirname(execPath)}:/usr/local/bin:/usr/bin:/bin`}`,
  };
  const child = spawn(execPath, ['packages/server/dist/main.js'], {
    cwd: root,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const remove = () => rm(folder, { recursive: true, force: true });
  const origin = await ready(child, timeoutMilliseconds).catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  return {
    origin,
    privateKey,
    publicKey,
    folder,
    environment,
    ask: async (path, method = 'GET') => {
      const headers = { authorization: `Bearer ${privateKey}` };
      return (await fetch(`${origin}/v1/${path}`, { method, headers })).json() as Promise<Record<string, unknown>>;
    },
    close: async () => {
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
      await remove();
    },
  };
}

/** Reads on after the greeting, so that the service never waits for its reader. */
async function ready(child: ChildProcess, timeoutMilliseconds: number): Promise<string> {
  const output: string[] = [];
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`the service did not start:\n${output.join('\n')}`)));
    const limit = setTimeout(() => child.kill('SIGTERM'), timeoutMilliseconds);
    if (child.stdout === null) return;
    createInterface(child.stdout).on('line', (line) => {
      output.push(line);
      const origin = /^bothost is ready at (\S+)$/.exec(line)?.[1];
      if (origin === undefined) return;
      clearTimeout(limit);
      resolve(origin);
    });
  });
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
