import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type BenchAgent, writeAgentDirectory } from './agent-directory.ts';
import { findFreePort } from './free-port.ts';
import { minimalEnvironment, stopChildProcess } from './program.ts';
import { bothostServerProgramPath } from './repository.ts';
import { waitUntil } from './wait-until.ts';

/** The built service, run as a process with an embedded database in a temporary directory. */
export type BenchmarkedService = {
  readonly origin: string;
  readonly pid: number;
  readonly publicKey: string;
  readonly privateKey: string;
  /** Path of the directory with one subdirectory for each agent. */
  readonly agentsDirectory: string;
  readonly dataDirectory: string;
  /** The connection parameters of the embedded database: the directory of its socket, its role and its name. */
  readonly databaseArguments: readonly [host: string, user: string, database: string];
  readonly database: pg.Pool;
  /** The pid of the postmaster, the parent of all other database processes. */
  readonly postmaster: number;
  readonly output: () => Promise<string>;
  /** Kills the service and starts it again. Returns the milliseconds until it is ready. */
  readonly restart: () => Promise<number>;
};

type Options = {
  readonly agents: readonly BenchAgent[];
  readonly nodeArguments?: readonly string[];
  /** Settings of the service in addition to the common settings of all benchmarks. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Time limit until the service is ready, which includes installing packages of its agents. */
  readonly readySeconds?: number;
};

/** Starts the service, waits until it is ready and runs `use`; finally stops the service and removes its files. */
export async function withService<T>(options: Options, use: (service: BenchmarkedService) => Promise<T>): Promise<T> {
  return withTemporaryDirectory(async (directory) => {
    const [agentsDirectory, dataDirectory] = [join(directory, 'agents'), join(directory, 'data')];
    const agents = await Promise.all(options.agents.map((agent) => writeAgentDirectory(agentsDirectory, agent)));
    const settings = await createServiceSettings(directory, agents);
    const log = await open(join(directory, 'output'), 'w');
    const start = () =>
      spawn(process.execPath, [...(options.nodeArguments ?? []), bothostServerProgramPath], {
        stdio: ['ignore', log.fd, log.fd],
        env: { ...settings.environment, ...options.environment },
      });
    let child = start();
    const output = () => readFile(join(directory, 'output'), 'utf8');
    const socket = join(dataDirectory, 'postgres/data');
    const address = [socket, 'bothost', 'bothost'] as const;
    const database = new pg.Pool({ host: address[0], user: address[1], database: address[2], port: 5432, max: 2 });
    try {
      const isReady = async () => {
        if (child.exitCode !== null) throw new Error(`The service exited: ${await output()}`);
        return (await respondsWith200(`${settings.origin}/readyz`)) ? true : undefined;
      };
      const waitUntilReady = () =>
        waitUntil('the service', isReady, { seconds: options.readySeconds ?? 60, everyMs: 2 });
      const restart = async () => {
        await stopChildProcess(child, 'SIGKILL');
        const before = performance.now();
        child = start();
        await waitUntilReady();
        return performance.now() - before;
      };
      await waitUntilReady();
      const { origin, publicKey, privateKey } = settings;
      const postmaster = Number((await readFile(join(socket, 'postmaster.pid'), 'utf8')).split('\n')[0]);
      const pid = child.pid ?? 0;
      return await use({
        origin,
        pid,
        publicKey,
        privateKey,
        agentsDirectory,
        dataDirectory,
        databaseArguments: address,
        database,
        postmaster,
        output,
        restart,
      });
    } finally {
      await database.end();
      await stopChildProcess(child);
      await log.close();
    }
  });
}

/** Creates a temporary directory that bots and the database can enter, because they run as other operating-system users. */
export async function withTemporaryDirectory<T>(use: (directory: string) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-bench-'));
  await chmod(directory, 0o711);
  await mkdir(join(directory, 'agents'));
  try {
    return await use(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Returns the environment of a new service. If `agents` is null, the service runs its default agents. */
export async function createServiceSettings(directory: string, agents: readonly string[] | null) {
  const port = await findFreePort();
  const privateKey = `sk_${randomBytes(24).toString('hex')}`;
  const publicKey = `pk_${randomBytes(24).toString('hex')}`;
  const environment = {
    ...minimalEnvironment,
    HOME: directory,
    BOTHOST_PORT: String(port),
    BOTHOST_DATA_DIR: join(directory, 'data'),
    ...(agents === null ? {} : { BOTHOST_AGENTS: agents.join(',') }),
    BOTHOST_BOOTSTRAP_ORGANIZATION: 'bench',
    BOTHOST_BOOTSTRAP_PRIVATE_KEY: privateKey,
    BOTHOST_BOOTSTRAP_PUBLIC_KEY: publicKey,
    BOTHOST_SHUTDOWN_GRACE: '0',
  };
  return { origin: `http://127.0.0.1:${port}`, privateKey, publicKey, environment };
}

export async function respondsWith200(url: string): Promise<boolean> {
  // The address may be that of a pod which has vanished without closing its connections.
  return fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    async (response) => {
      await response.body?.cancel();
      return response.status === 200;
    },
    () => false,
  );
}
