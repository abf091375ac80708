import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execPath } from 'node:process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const run = promisify(execFile);

export type ClientKind = 'vanilla' | 'react-vite' | 'react-nextjs';
export const clientKinds: readonly ClientKind[] = ['vanilla', 'react-vite', 'react-nextjs'];

/** All that a generated client can offer. */
export const clientTransports: readonly string[] = ['lightrtc', 'hostedrtc', 'websocket'];

const choices: Readonly<Record<ClientKind, readonly string[]>> = {
  vanilla: ['--client-framework', 'vanilla'],
  'react-vite': ['--client-framework', 'react'],
  'react-nextjs': ['--client-framework', 'react', '--client-server', 'nextjs'],
};

/** A generated client with its packages installed. */
export type Client = {
  readonly kind: ClientKind;
  /** Its folder. */
  readonly root: string;
  readonly environment: NodeJS.ProcessEnv;
};

/**
 * Generates a client with every transport that a browser can use, and installs what it asks for from the registry, unless
 * that is there: `cache` keeps the packages of each list of dependencies. Its own checks are run.
 */
export async function makeClient(
  kind: ClientKind,
  program: string,
  cache: string,
  environment: NodeJS.ProcessEnv,
): Promise<Client> {
  const scratch = join(cache, 'clients', kind);
  await mkdir(scratch, { recursive: true });
  const client = { kind, root: join(scratch, 'client'), environment };
  await generate(client, program, clientTransports);
  const asked = createHash('sha256').update(await readFile(join(client.root, 'package.json')));
  const hash = asked.update(process.version).digest('hex');
  const mark = join(client.root, 'node_modules', '.asked');
  if (!existsSync(mark) || (await readFile(mark, 'utf8')) !== hash) {
    await npm(client, ['install', '--no-audit', '--no-fund']);
    await writeFile(mark, hash);
  }
  await npm(client, ['run', 'lint']);
  // A page of Next.js reads where its bot is when it is served, one of Vite's when it is built.
  if (kind === 'react-nextjs') await npm(client, ['run', 'build']);
  return client;
}

/**
 * Makes the client anew for one transport and builds it, types checked, with the packages that are there: it asks for some of
 * them. The client for all transports is gone then. Rejects with what the compiler or the bundler said.
 */
export async function buildFor(client: Client, program: string, transport: string): Promise<void> {
  await generate(client, program, [transport]);
  await npm(client, ['run', 'build']).catch((error: unknown) => {
    throw error instanceof Error && 'stdout' in error ? new Error(String(error.stdout), { cause: error }) : error;
  });
}

/** Only packages stay of what was there. */
async function generate(client: Client, program: string, transports: readonly string[]): Promise<void> {
  const { kind, root, environment } = client;
  for (const made of ['src', 'dist', '.next']) await rm(join(root, made), { recursive: true, force: true });
  const ways = transports.flatMap((transport) => ['-t', transport]);
  const bot = ['-m', 'realtime', '--realtime', 'openai_realtime', '-n', 'Garden line', '--force', '--json'];
  await run(execPath, [program, 'init', dirname(root), ...ways, ...bot, ...choices[kind]], { env: environment });
}

/** The content security policy that the README of a project without hosted rooms names, for a bot at `origin`. */
export async function namedPolicy(program: string, folder: string, origin: string): Promise<string> {
  const bot = ['-t', 'lightrtc', '-t', 'websocket', '-m', 'realtime', '--realtime', 'openai_realtime', '--force'];
  const line = [program, 'init', folder, ...bot, '--client-framework', 'vanilla'];
  await run(execPath, line, { env: { HOME: folder } });
  const [, policy] = /^```\n(default-src .*)\n```$/m.exec(await readFile(join(folder, 'README.md'), 'utf8')) ?? [];
  if (policy === undefined) throw new Error('the README names no policy');
  return policy.replace('https://HOST', origin).replace('wss://HOST', origin.replace('http', 'ws'));
}

/** Builds a client, types checked, for a bot, and serves what was built; with a policy only where the page is a file. */
export async function serveClient(
  client: Client,
  settings: { readonly startUrl: string; readonly publicKey: string | null; readonly policy?: string },
): Promise<{ readonly origin: string; readonly close: () => Promise<void> }> {
  const { kind, root } = client;
  const prefix = kind === 'react-nextjs' ? '' : 'VITE_';
  const file = join(root, kind === 'react-nextjs' ? '.env.local' : '.env');
  const key = settings.publicKey === null ? [] : [`${prefix}BOT_START_PUBLIC_API_KEY=${settings.publicKey}`];
  await writeFile(file, [`${prefix}BOT_START_URL=${settings.startUrl}`, ...key, ''].join('\n'));
  if (kind !== 'react-nextjs') await npm(client, ['run', 'build']);
  if (kind !== 'react-nextjs' && settings.policy !== undefined) {
    const index = join(root, 'dist/index.html');
    const tag = `<head><meta http-equiv="Content-Security-Policy" content="${settings.policy}">`;
    await writeFile(index, (await readFile(index, 'utf8')).replace('<head>', tag));
  }
  const [script, ...flags] =
    kind === 'react-nextjs'
      ? ['next/dist/bin/next', 'start', '--port', '0', '--hostname', '127.0.0.1']
      : ['vite/bin/vite.js', 'preview', '--port', '0', '--host', '127.0.0.1'];
  const child = spawn(execPath, [join(root, 'node_modules', script ?? ''), ...flags], {
    cwd: root,
    env: { ...client.environment, NEXT_TELEMETRY_DISABLED: '1', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { origin: await addressOf(child), close: () => ended(child) };
}

async function npm({ root, environment }: Client, args: readonly string[]): Promise<void> {
  const env = { ...environment, NEXT_TELEMETRY_DISABLED: '1' };
  await run('npm', [...args], { cwd: root, env, maxBuffer: 20_000_000 });
}

/** The first address that a program says it serves at. */
function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', (status) => reject(new Error(`ended with ${status} before it served anything`)));
    if (child.stdout === null) return;
    createInterface(child.stdout).on('line', (line) => {
      const [address] = /http:\/\/(?:localhost|127\.0\.0\.1):\d+/.exec(line) ?? [];
      if (address !== undefined) resolve(address);
    });
  });
}

export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}
