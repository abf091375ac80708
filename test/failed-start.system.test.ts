import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { testAsRoot } from '../packages/runtime/test/root.ts';
import { createTestDatabase, type TestDatabase } from '../packages/server/test/support/test-database.ts';

const program = fileURLToPath(new URL('../packages/server/dist/main.js', import.meta.url));

let database: TestDatabase;
let folder: string;
let data: string;

beforeAll(async () => {
  database = await createTestDatabase();
}, 120_000);
afterAll(() => database.drop());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'failed-start-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o711);
  data = join(folder, 'data');
});

type ProcessResult = { readonly status: number | string | null; readonly output: string };

function start(more: Readonly<Record<string, string>>): Promise<ProcessResult> {
  const env = {
    PATH: execPath.replace(/\/[^/]+$/, ''),
    HOME: folder,
    BOTHOST_PORT: '0',
    BOTHOST_DATA_DIR: data,
    BOTHOST_AGENTS: '',
    BOTHOST_LOG_LEVEL: 'silent',
    DATABASE_URL: database.url,
    ...more,
  };
  return new Promise((resolve) => {
    execFile(execPath, [program], { env }, (error, _, output) => resolve({ status: error?.code ?? 0, output }));
  });
}

async function takenPort(): Promise<string> {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => other.close(() => resolve())));
  return String((other.address() as { port: number }).port);
}

async function file(name: string, text: string, mode = 0o600): Promise<void> {
  const path = join(data, name);
  await mkdir(join(path, '..'), { recursive: true });
  await writeFile(path, text, { mode });
}

const elsewhere = `data:text/javascript,Object.defineProperty(process, 'platform', { value: 'sunos' })`;

const obstacles: Record<string, { readonly says: RegExp; readonly meet: () => Promise<Record<string, string>> }> = {
  'wrong settings': { says: /BOTHOST_PORT: /, meet: async () => ({ BOTHOST_PORT: 'x' }) },
  'a database that cannot be used': {
    says: /database/,
    meet: async () => ({ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }),
  },
  'a damaged key in the data directory': {
    says: /The key file .* is damaged/,
    meet: async () => {
      await file('key', 'no key');
      return {};
    },
  },
  'a key file of the vault that others can read': {
    says: /The key file .* can be read by other accounts/,
    meet: async () => {
      await file('vault-keys/0123456789abcdef', 'no key', 0o644);
      return {};
    },
  },
  'a damaged token of the operator': {
    says: /operator-token is damaged/,
    meet: async () => {
      await file('operator-token', 'short');
      return {};
    },
  },
  'a machine that the runtime does not work on': {
    says: /needs \/proc and therefore Linux/,
    meet: async () => ({ NODE_OPTIONS: `--import=${encodeURI(elsewhere)}` }),
  },
  'a port that is taken': { says: /is in use/, meet: async () => ({ BOTHOST_PORT: await takenPort() }) },
};

it.each(Object.entries(obstacles))(
  'the service reports the cause of a failed start without a stack trace and exits with 1: %s',
  async (_, obstacle) => {
    const { status, output } = await start(await obstacle.meet());
    expect(output).toMatch(/^bothost: /);
    expect(output).toMatch(obstacle.says);
    expect(output).not.toMatch(/^\s+at /m);
    expect(status).toBe(1);
  },
);

testAsRoot('the service reports a data directory that bots cannot enter, and exits with 1', async () => {
  await chmod(folder, 0o700);
  const { status, output } = await start({});
  expect(output).toMatch(/^bothost: .*Set mode 0711 on this directory.*\n$/);
  expect(status).toBe(1);
});
