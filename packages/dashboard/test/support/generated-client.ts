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

/** The transports that a generated client supports. */
export const clientTransports: readonly string[] = ['lightrtc', 'hostedrtc', 'websocket'];

const frameworkOptions: Readonly<Record<ClientKind, readonly string[]>> = {
  vanilla: ['--client-framework', 'vanilla'],
  'react-vite': ['--client-framework', 'react'],
  'react-nextjs': ['--client-framework', 'react', '--client-server', 'nextjs'],
};

export type GeneratedClient = {
  readonly kind: ClientKind;
  readonly root: string;
  readonly environment: NodeJS.ProcessEnv;
};

/**
 * Generates a client with all transports, installs its packages, and runs its linter and compiler. `cache` is a directory that
 * keeps the packages between runs.
 */
export async function setUpGeneratedClient(
  kind: ClientKind,
  program: string,
  cache: string,
  environment: NodeJS.ProcessEnv,
): Promise<GeneratedClient> {
  const scratch = join(cache, 'clients', kind);
  await mkdir(scratch, { recursive: true });
  const client = { kind, root: join(scratch, 'client'), environment };
  await generate(client, program, clientTransports);
  const dependencies = createHash('sha256').update(await readFile(join(client.root, 'package.json')));
  const hash = dependencies.update(process.version).digest('hex');
  const marker = join(client.root, 'node_modules', '.installed');
  if (!existsSync(marker) || (await readFile(marker, 'utf8')) !== hash) {
    await npm(client, ['install', '--no-audit', '--no-fund']);
    await writeFile(marker, hash);
  }
  await npm(client, ['run', 'lint']);
  // Next.js reads the bot's address at run time. Vite inserts it at build time, so `serveGeneratedClient` builds.
  await npm(client, kind === 'react-nextjs' ? ['run', 'build'] : ['exec', '--', 'tsc']);
  return client;
}

/**
 * Generates the client again for a single transport and builds it with the installed packages. Rejects with the output of the
 * compiler or bundler. Next.js takes long to build, so its clients are only compiled, except for the first transport.
 */
export async function buildClientForTransport(
  client: GeneratedClient,
  program: string,
  transport: string,
): Promise<void> {
  await generate(client, program, [transport]);
  const isCompiledOnly = client.kind === 'react-nextjs' && transport !== clientTransports[0];
  const compile = async () => {
    await npm(client, ['exec', '--', 'next', 'typegen']);
    await npm(client, ['exec', '--', 'tsc', '--noEmit']);
  };
  await (isCompiledOnly ? compile() : npm(client, ['run', 'build'])).catch((error: unknown) => {
    throw error instanceof Error && 'stdout' in error ? new Error(String(error.stdout), { cause: error }) : error;
  });
}

/** Generates the files of a client again, and keeps the packages that are installed in its directory. */
async function generate(client: GeneratedClient, program: string, transports: readonly string[]): Promise<void> {
  const { kind, root, environment } = client;
  for (const folder of ['src', 'dist', '.next']) await rm(join(root, folder), { recursive: true, force: true });
  const transportOptions = transports.flatMap((transport) => ['-t', transport]);
  const bot = ['-m', 'realtime', '--realtime', 'openai_realtime', '-n', 'Garden line', '--force', '--json'];
  await run(execPath, [program, 'init', dirname(root), ...transportOptions, ...bot, ...frameworkOptions[kind]], {
    env: environment,
  });
}

/** Reads the content security policy in the README of a generated project, for a bot at `origin`. */
export async function readContentSecurityPolicy(program: string, folder: string, origin: string): Promise<string> {
  const bot = ['-t', 'lightrtc', '-t', 'websocket', '-m', 'realtime', '--realtime', 'openai_realtime', '--force'];
  const line = [program, 'init', folder, ...bot, '--client-framework', 'vanilla'];
  await run(execPath, line, { env: { HOME: folder } });
  const [, policy] = /^```\n(default-src .*)\n```$/m.exec(await readFile(join(folder, 'README.md'), 'utf8')) ?? [];
  if (policy === undefined) throw new Error('the generated README contains no content security policy');
  return policy.replace('https://HOST', origin).replace('wss://HOST', origin.replace('http', 'ws'));
}

/**
 * Builds and serves a client for a bot. Adds the content security policy `policy` to static pages, but not to those of Next.js.
 */
export async function serveGeneratedClient(
  client: GeneratedClient,
  settings: { readonly startUrl: string; readonly publicKey: string | null; readonly policy?: string },
): Promise<{ readonly origin: string; readonly close: () => Promise<void> }> {
  const { kind, root } = client;
  const prefix = kind === 'react-nextjs' ? '' : 'VITE_';
  const file = join(root, kind === 'react-nextjs' ? '.env.local' : '.env');
  const key = settings.publicKey === null ? [] : [`${prefix}BOT_START_PUBLIC_API_KEY=${settings.publicKey}`];
  await writeFile(file, [`${prefix}BOT_START_URL=${settings.startUrl}`, ...key, ''].join('\n'));
  const [script, ...flags] =
    kind === 'react-nextjs'
      ? ['next/dist/bin/next', 'start', '--port', '0', '--hostname', '127.0.0.1']
      : ['vite/bin/vite.js', 'preview', '--port', '0', '--host', '127.0.0.1'];
  const program = join(root, 'node_modules', script ?? '');
  if (kind !== 'react-nextjs') await run(execPath, [program, 'build'], { cwd: root, env: client.environment });
  if (kind !== 'react-nextjs' && settings.policy !== undefined) {
    const index = join(root, 'dist/index.html');
    const tag = `<head><meta http-equiv="Content-Security-Policy" content="${settings.policy}">`;
    await writeFile(index, (await readFile(index, 'utf8')).replace('<head>', tag));
  }
  const child = spawn(execPath, [program, ...flags], {
    cwd: root,
    env: { ...client.environment, NEXT_TELEMETRY_DISABLED: '1', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { origin: await addressOf(child), close: () => stopProcess(child) };
}

async function npm({ root, environment }: GeneratedClient, args: readonly string[]): Promise<void> {
  const env = { ...environment, NEXT_TELEMETRY_DISABLED: '1' };
  await run('npm', [...args], { cwd: root, env, maxBuffer: 20_000_000 });
}

/** Waits for the first local URL that a program prints. */
function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once('exit', (status) =>
      reject(new Error(`The client's server exited with status ${status} before it listened.`)),
    );
    if (child.stdout === null) return;
    createInterface(child.stdout).on('line', (line) => {
      const [address] = /http:\/\/(?:localhost|127\.0\.0\.1):\d+/.exec(line) ?? [];
      if (address !== undefined) resolve(address);
    });
  });
}

export async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}
