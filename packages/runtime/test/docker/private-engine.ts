import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { vi } from 'vitest';
import { findProcessIds } from '../orphans.ts';
import { isRoot } from '../root.ts';
import { noEngine, runDocker } from './engine.ts';

export const noPrivateEngine = noEngine ?? (isRoot ? null : 'only root can start a Docker engine');

/** A Docker engine of one test file, which can be stopped and killed. It makes no firewall rules, so it does not disturb other engines. */
export type PrivateEngine = {
  /** The address of the engine, for `BOTHOST_DOCKER_HOST`. */
  readonly host: string;
  readonly directory: string;
  /** Runs `docker` and returns its standard output. */
  readonly run: (...words: readonly string[]) => Promise<string>;
  /** `settings` are further settings of `daemon.json`, until the next start. */
  readonly start: (settings?: object) => Promise<void>;
  /** SIGTERM stops containers, unless the engine has `live-restore`. After SIGKILL, they run until the engine starts again. */
  readonly stop: (signal: 'SIGTERM' | 'SIGKILL') => Promise<void>;
  /** Suspends the engine, which then accepts connections without responding, or resumes it. */
  readonly signal: (signal: 'SIGSTOP' | 'SIGCONT') => void;
  readonly close: () => Promise<void>;
};

export async function startPrivateEngine(
  options: {
    /** Settings of `daemon.json`. */
    readonly settings?: object;
    readonly environment?: Readonly<Record<string, string>>;
    /** The directory of its images and containers. */
    readonly dataRoot?: string;
  } = {},
): Promise<PrivateEngine> {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-dockerd-'));
  const path = (name: string) => join(directory, name);
  const host = `unix://${path('docker.sock')}`;
  await mkdir(path('client'));
  // The engine of the machine makes the default bridge, because two engines would both configure `docker0`.
  const bridge = `btest-${directory.slice(-6)}`;
  await runDocker('network', 'create', '-o', `com.docker.network.bridge.name=${bridge}`, bridge);
  const settings = {
    hosts: [host],
    'data-root': options.dataRoot ?? path('data'),
    'exec-root': path('exec'),
    pidfile: path('pid'),
    bridge,
    iptables: false,
    'userland-proxy': false,
    'default-address-pools': [{ base: '10.213.0.0/16', size: 24 }],
    'log-level': 'warn',
    ...options.settings,
  };
  const run = async (...words: readonly string[]) => {
    const parameters = ['--config', path('client'), '--host', host, ...words];
    return (await promisify(execFile)('docker', parameters, { maxBuffer: 64 * 1_048_576 })).stdout.trim();
  };
  let engine: ChildProcess | null = null;

  const start = async (further: object = {}) => {
    await writeFile(path('daemon.json'), JSON.stringify({ ...settings, ...further }));
    const log = openSync(path('log'), 'a');
    const variables = Object.entries(options.environment ?? {}).map(([name, value]) => `${name}=${value}`);
    const words = [...variables, 'dockerd', '--config-file', path('daemon.json')];
    const started = spawn('env', words, { stdio: ['ignore', log, log] });
    closeSync(log);
    engine = started;
    const hasStarted = () =>
      run('version').catch((error: unknown) => (started.exitCode === null ? Promise.reject(error) : null));
    await vi.waitFor(hasStarted, { timeout: 60_000, interval: 50 });
    if (started.exitCode !== null) throw new Error(`The Docker engine exited: ${await readFile(path('log'), 'utf8')}`);
  };
  const stop = async (signal: 'SIGTERM' | 'SIGKILL') => {
    if (engine === null) return;
    const exited = once(engine, 'exit');
    const containerd = (await readFile(path('exec/containerd/containerd.pid'), 'utf8').catch(() => '')).trim();
    engine.kill(signal);
    await exited;
    engine = null;
    // The kernel kills containerd with its parent. The next engine must not find it.
    const requireEnd = () => {
      if (containerd !== '' && existsSync(`/proc/${containerd}`)) throw new Error('containerd still runs');
    };
    await vi.waitFor(requireEnd, { timeout: 30_000, interval: 20 });
  };
  const close = async () => {
    await stop('SIGTERM');
    // After SIGKILL, or with `live-restore`, processes of the engine are left.
    for (const pid of findProcessIds(directory)) process.kill(pid, 'SIGKILL');
    const mounts = (await readFile('/proc/mounts', 'utf8')).split('\n').map((line) => line.split(' ')[1] ?? '');
    for (const mount of mounts.filter((one) => one.startsWith(directory))) execFileSync('umount', ['-l', mount]);
    await runDocker('network', 'rm', bridge);
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await start();
  } catch (error) {
    await close();
    throw error;
  }
  return { host, directory, run, start, stop, signal: (signal) => void engine?.kill(signal), close };
}

/** Makes an image with Node and these files, which runs `node FILE`, and returns its name. Needs no other image. */
export async function importNodeImage(
  engine: Pick<PrivateEngine, 'directory' | 'run'>,
  name: string,
  files: Readonly<Record<string, string>>,
  main: string,
): Promise<string> {
  const root = await mkdtemp(join(engine.directory, 'image-'));
  for (const [file, content] of Object.entries(files)) {
    await mkdir(join(root, 'app', dirname(file)), { recursive: true });
    await writeFile(join(root, 'app', file), content);
  }
  const libraries = execFileSync('ldd', [process.execPath], { encoding: 'utf8' }).match(/\/\S+/g) ?? [];
  const archive = join(root, 'image.tar');
  // Follows links, because the names of libraries are links.
  const system = [process.execPath, ...libraries].map((file) => file.slice(1));
  execFileSync('tar', ['-chf', archive, '-C', '/', ...system, '-C', root, 'app']);
  const changes = ['WORKDIR /app', `CMD ${JSON.stringify([process.execPath, main])}`].flatMap((line) => ['-c', line]);
  await engine.run('import', ...changes, archive, name);
  await rm(root, { recursive: true });
  return name;
}
