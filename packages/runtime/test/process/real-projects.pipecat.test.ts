import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { createProcessRuntime } from '../../src/process/process-runtime.ts';
import { programsNamed } from '../../src/process/projects/interpreter.ts';
import type { InstanceAddress, Prepared, PrepareSource, Runtime } from '../../src/runtime.ts';

const NEVER_ABORTED = new AbortController().signal;
const LIMITS = { cpuMillicores: 2000, memoryBytes: 1024 * 1024 * 1024 };
const organizationId = '0199f0a0-0000-7000-8000-000000000001';
const isRoot = process.geteuid?.() === 0;
const variables = inject('surroundings');
const searchPath = variables['PATH'] ?? '/usr/bin:/bin';
const hasPython = programsNamed(['python3'], searchPath).length > 0;

/** Variables for package indexes, proxies and certificates. */
const indexVariables = /^(?:PIP_|UV_|NPM_CONFIG_|HTTPS?_PROXY|ALL_PROXY|NO_PROXY|SSL_CERT|REQUESTS_CA|NODE_EXTRA_CA)/i;
const environment = Object.fromEntries(
  Object.entries(variables).flatMap(([name, value = '']) => (indexVariables.test(name) ? [[name, value]] : [])),
);

let uv: string;

/** A folder with uv alone: the folder that the tests share also has a Python. */
beforeAll(async () => {
  if (!hasPython) return;
  uv = await mkdtemp(join(tmpdir(), 'bothost-uv-'));
  await chmod(uv, 0o755);
  await symlink(join(inject('uvFolder'), 'uv'), join(uv, 'uv'));
  return () => rm(uv, { recursive: true, force: true });
});

type Bench = {
  readonly runtime: Runtime;
  readonly dataDirectory: string;
  readonly project: (name: string, files: Readonly<Record<string, string>>) => Promise<string>;
  readonly prepare: (
    id: string,
    path: string,
  ) => Promise<{ readonly prepared: Prepared; readonly lines: readonly string[] }>;
  readonly start: (instanceId: string, prepared: Prepared) => Promise<InstanceAddress>;
};

async function openBench(path = searchPath): Promise<Bench> {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-real-'));
  await chmod(directory, 0o711);
  const dataDirectory = join(directory, 'data');
  const building = { cpuMillicores: 2000, memoryBytes: 4e9, timeoutMilliseconds: 500_000, environment };
  const logger = pino({ level: 'silent' });
  const runtime = await createProcessRuntime({ dataDirectory, logger, now: () => new Date(), path, building });
  const started: string[] = [];
  onTestFinished(async () => {
    for (const id of started) await runtime.stop(id, 0);
    await runtime.close();
    await rm(directory, { recursive: true, force: true });
  });
  return {
    runtime,
    dataDirectory,
    project: async (name, files) => {
      const project = join(directory, name);
      for (const [file, content] of Object.entries(files)) {
        await mkdir(join(project, file, '..'), { recursive: true });
        await writeFile(join(project, file), content);
      }
      return project;
    },
    prepare: async (id, project) => {
      const lines: string[] = [];
      const source: PrepareSource = { kind: 'build', path: project, contentHash: id, organizationId };
      const prepared = await runtime.prepare({ id, source }, (line) => lines.push(line), NEVER_ABORTED);
      return { prepared, lines };
    },
    start: (instanceId, prepared) => {
      started.push(instanceId);
      return runtime.start(
        {
          instanceId,
          deploymentId: 'd',
          prepared,
          limits: LIMITS,
          environment: async () => ({ BOT_CONTROL_TOKEN: 'token' }),
        },
        NEVER_ABORTED,
      );
    },
  };
}

async function post(address: InstanceAddress, path: string, body: unknown): Promise<{ status: number; body: string }> {
  const headers = { 'content-type': 'application/json', 'x-bot-control-token': 'token', 'x-session-id': 'session' };
  const call = request({ ...address, path, method: 'POST', headers, agent: false });
  call.end(JSON.stringify(body));
  const [response] = await once(call, 'response');
  return { status: response.statusCode, body: await text(response) };
}

const BOT = `import itsdangerous
async def bot(args):
    print('signed', itsdangerous.__version__, args.body)
`;

describe.skipIf(!hasPython).each([
  ['pip', async () => searchPath],
  ['uv', async () => `${uv}:${searchPath}`],
])('a Python project, with %s', (tool, path) => {
  it('installs its dependencies and runs, and reuses them when only bot.py changed', async () => {
    const bench = await openBench(await path());
    const files = { 'bot.py': BOT, 'requirements.txt': 'itsdangerous==2.2.0\n' };
    const first = await bench.prepare('first', await bench.project('one', files));
    expect(first.lines.join('\n')).toContain(tool === 'pip' ? '> python -m venv' : '> uv venv');
    expect(first.prepared).toMatchObject({ kind: 'python', main: 'bot.py' });
    const address = await bench.start('made', first.prepared);
    expect(await post(address, '/bot', { hello: 1 })).toMatchObject({ status: 200 });

    const changed = { ...files, 'bot.py': `${BOT}\n# changed` };
    const second = await bench.prepare('second', await bench.project('two', changed));
    expect(second.prepared).toMatchObject({ environment: first.prepared['environment'] });
    expect(second.lines.filter((line) => line.startsWith('> '))).toEqual(['> compileall']);
    expect(await bench.prepare('second', '/nowhere')).toEqual({ prepared: second.prepared, lines: [] });

    await bench.runtime.discard(first.prepared);
    await bench.start('again', second.prepared);
    await bench.runtime.stop('again', 0);
    await bench.runtime.discard(second.prepared);
    const left = await Promise.all(
      ['projects', 'environments', 'caches', 'preparing'].map((name) => readdir(join(bench.dataDirectory, name))),
    );
    expect(left).toEqual([[], [], [], []]);
  });

  it('installs the dependencies of a package, but not the package itself', async () => {
    const bench = await openBench(await path());
    const pyproject = `[project]
name = "signer"
version = "1"
requires-python = ">=3.9"
dependencies = ["signer[sign]"]
[project.optional-dependencies]
sign = ["itsdangerous==2.2.0"]
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
`;
    const list = pyproject.replace('"signer[sign]"', '"itsdangerous==2.2.0"');
    const { prepared } = await bench.prepare(
      'p',
      await bench.project('p', { 'bot.py': BOT, 'pyproject.toml': tool === 'uv' ? list : pyproject }),
    );
    const address = await bench.start('packaged', prepared);
    expect(await post(address, '/bot', {})).toMatchObject({ status: 200 });
  });

  it('rejects with status and last lines of a failed command, and removes its files', async () => {
    const bench = await openBench(await path());
    const project = await bench.project('bad', { 'bot.py': '', 'requirements.txt': 'itsdangerous==999\n' });
    await expect(bench.prepare('bad', project)).rejects.toThrow(
      /install -r requirements\.txt" failed with status 1\.[\s\S]*itsdangerous==999/,
    );
    expect(await readdir(join(bench.dataDirectory, 'projects'))).toEqual([]);
    expect(await readdir(join(bench.dataDirectory, 'preparing'))).toEqual([]);
    const [owner = ''] = await readdir(join(bench.dataDirectory, 'environments'));
    expect(await readdir(join(bench.dataDirectory, 'environments', owner))).toEqual([]);
  });
});

it.skipIf(!hasPython)('installs from uv.lock', async () => {
  const bench = await openBench(`${uv}:${searchPath}`);
  const project = await bench.project('locked', {
    'bot.py': BOT.replace('2.2.0', '2.1.0'),
    'pyproject.toml':
      '[project]\nname = "locked"\nversion = "1"\nrequires-python = ">=3.11"\ndependencies = ["itsdangerous<2.2"]\n',
  });
  await promisify(execFile)(join(uv, 'uv'), ['lock', '--quiet'], { cwd: project });
  const { prepared, lines } = await bench.prepare('locked', project);
  expect(lines).toContain('> uv sync --frozen');
  const address = await bench.start('locked', prepared);
  expect(await post(address, '/bot', {})).toMatchObject({ status: 200 });
});

it.skipIf(!hasPython)('rejects a project without a matching interpreter and names the installed one', async () => {
  const bench = await openBench();
  const project = await bench.project('new', {
    'bot.py': BOT,
    'pyproject.toml': '[project]\nname = "new"\nversion = "1"\nrequires-python = ">=3.99"\n',
  });
  await expect(bench.prepare('new', project)).rejects.toThrow(
    /pyproject\.toml requires Python >=3\.99 .*, but this machine has only 3\./,
  );
});

const NODE_BOT = `const { nanoid } = require('nanoid/non-secure');
require('http').createServer((request, response) => response.end(nanoid())).listen(process.env.PORT, '127.0.0.1');`;

describe('a Node project', () => {
  it('installs from its lock file under a separate account, and belongs to root afterwards', async () => {
    const bench = await openBench();
    const manifest = { name: 'locked', version: '1.0.0', main: 'main.js', dependencies: { nanoid: '^3.3.0' } };
    const project = await bench.project('locked', { 'package.json': JSON.stringify(manifest), 'main.js': NODE_BOT });
    const options = { cwd: project };
    await promisify(execFile)(
      'npm',
      ['install', '--package-lock-only', '--no-audit', '--no-fund', 'nanoid@3.3.8'],
      options,
    );
    const { prepared, lines } = await bench.prepare('locked', project);
    expect(lines.some((line) => line.startsWith('> npm ci'))).toBe(true);
    const installed = join(bench.dataDirectory, 'projects/locked/node_modules/nanoid');
    expect(JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'))).toMatchObject({ version: '3.3.8' });
    if (isRoot) expect(await stat(join(installed, 'package.json'))).toMatchObject({ uid: 0, gid: prepared['gid'] });
    const address = await bench.start('node', prepared);
    expect((await post(address, '/', {})).body).toHaveLength(21);
  });

  it('warns without a lock file, and removes development dependencies after the build', async () => {
    const bench = await openBench();
    const manifest = {
      main: 'built/main.js',
      scripts: { build: 'node build.js' },
      dependencies: { nanoid: '3.3.8' },
      devDependencies: { 'is-number': '7.0.0' },
    };
    const build = `require('is-number'); require('fs').mkdirSync('built'); require('fs').copyFileSync('main.js', 'built/main.js');`;
    const project = await bench.project('built', {
      'package.json': JSON.stringify(manifest),
      'main.js': NODE_BOT,
      'build.js': build,
    });
    const { prepared, lines } = await bench.prepare('built', project);
    expect(lines.join('\n')).toMatch(/warning: no package-lock\.json/);
    expect(await readdir(join(bench.dataDirectory, 'projects/built/node_modules'))).not.toContain('is-number');
    const address = await bench.start('built', prepared);
    expect((await post(address, '/', {})).body).toHaveLength(21);
  });
});

describe.each([
  ['pnpm', 'pnpm@10.18.3', ['install', '--lockfile-only']],
  ['yarn', 'yarn@1.22.22', ['install', '--non-interactive']],
])('a project with a lock file of %s', (tool, spec, lock) => {
  it('is installed by that tool and started without its development dependencies', async () => {
    const tools = await mkdtemp(join(tmpdir(), 'bothost-tools-'));
    onTestFinished(() => rm(tools, { recursive: true, force: true }));
    await chmod(tools, 0o755);
    const run = promisify(execFile);
    await run('npm', ['install', '--no-audit', '--no-fund', '--prefix', tools, spec]);
    const bin = join(tools, 'node_modules/.bin');
    const bench = await openBench(`${bin}:${searchPath}`);
    const project = await bench.project('other', {
      'package.json': JSON.stringify({
        name: 'other',
        version: '1.0.0',
        main: 'built.js',
        scripts: { build: 'node build.js' },
        dependencies: { nanoid: '3.3.8' },
        devDependencies: { 'is-number': '7.0.0' },
      }),
      'build.js': `require('is-number'); require('fs').writeFileSync('built.js', ${JSON.stringify(NODE_BOT)});`,
    });
    await run(join(bin, tool), lock, { cwd: project });
    const { prepared, lines } = await bench.prepare('other', project);
    expect(lines.filter((line) => line.startsWith(`> ${tool} `)).length).toBeGreaterThan(1);
    expect(await readdir(join(bench.dataDirectory, 'projects/other/node_modules'))).not.toContain('is-number');
    expect((await post(await bench.start('other', prepared), '/', {})).body).toHaveLength(21);
  });
});
