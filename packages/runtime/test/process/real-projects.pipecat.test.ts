import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { findProgramsInPath } from '../../src/process/projects/interpreter.ts';
import type { BotProjectSource, BuildLimits, InstanceAddress, PreparedProject, Runtime } from '../../src/runtime.ts';
import { writeStandInShim } from '../conformance/stand-in-shim.ts';
import { createTestInstanceSpec } from '../instance-spec.ts';
import { describeUnless, testUnless } from '../skip-with-reason.ts';
import { createTestDirectory } from '../test-directory.ts';
import { openProcessRuntime } from './open-process-runtime.ts';

const neverAborted = new AbortController().signal;
const resourceLimits = { cpuMillicores: 2000, memoryBytes: 1024 * 1024 * 1024 };
const isRoot = process.geteuid?.() === 0;
const variables = inject('surroundings');
const searchPath = variables['PATH'] ?? '/usr/bin:/bin';
const noPython = findProgramsInPath(['python3'], searchPath).length > 0 ? null : 'PATH has no python3';

/** Names of environment variables that configure package indexes, proxies and certificates. The tests pass them on to builds. */
const indexVariables = /^(?:PIP_|UV_|NPM_CONFIG_|HTTPS?_PROXY|ALL_PROXY|NO_PROXY|SSL_CERT|REQUESTS_CA|NODE_EXTRA_CA)/i;
const environment = Object.fromEntries(
  Object.entries(variables).flatMap(([name, value = '']) => (indexVariables.test(name) ? [[name, value]] : [])),
);

const uv = inject('uvFolder');

/** A package index with two wheels, `small` and `large` (1 MB), that records which of them are downloaded. */
async function startPackageIndex(): Promise<{ readonly url: string; readonly downloads: string[] }> {
  const downloads: string[] = [];
  const directory = await mkdtemp(join(tmpdir(), 'bothost-index-'));
  const write = `import sys, zipfile, os
for name, size in (('small', 10), ('large', 1000000)):
    with zipfile.ZipFile(f'{sys.argv[1]}/{name}-1-py3-none-any.whl', 'w') as wheel:
        wheel.writestr(f'{name}.bin', os.urandom(size))
        wheel.writestr(f'{name}-1.dist-info/METADATA', f'Metadata-Version: 2.1\\nName: {name}\\nVersion: 1\\n')
        wheel.writestr(f'{name}-1.dist-info/WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
        wheel.writestr(f'{name}-1.dist-info/RECORD', '')
`;
  await promisify(execFile)('python3', ['-c', write, directory]);
  const server = createServer(async ({ url = '', method }, response) => {
    const file = /\/(\w+)-1-py3-none-any\.whl$/.exec(url);
    const [name = ''] = /\w+(?=\/$)/.exec(url) ?? [];
    if (file === null) {
      const wheel = `${name}-1-py3-none-any.whl`;
      response.setHeader('content-type', 'text/html').end(`<a href="/files/${wheel}">${wheel}</a>`);
      return;
    }
    if (method === 'GET') downloads.push(file[1] ?? '');
    // The index serves its packages below this path, like PyPI.
    response.setHeader('cache-control', 'max-age=365000000, immutable, public');
    response.end(await readFile(join(directory, basename(url))));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(async () => {
    server.close();
    await rm(directory, { recursive: true });
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/simple`, downloads };
}

type Bench = {
  readonly runtime: Runtime;
  readonly dataDirectory: string;
  readonly project: (name: string, files: Readonly<Record<string, string>>) => Promise<string>;
  readonly prepare: (
    id: string,
    path: string,
    organizationId?: string,
  ) => Promise<{ readonly prepared: PreparedProject; readonly lines: readonly string[] }>;
  readonly start: (instanceId: string, prepared: PreparedProject) => Promise<InstanceAddress>;
};

type BenchOptions = {
  readonly building?: Partial<BuildLimits>;
  readonly cacheLimitBytes?: number;
  /** Whether to replace the Python host shim with a stand-in without requirements, whose installation takes seconds. */
  readonly hasStandInShim?: boolean;
};

async function openBench(
  path = searchPath,
  { building: more, cacheLimitBytes, hasStandInShim = false }: BenchOptions = {},
): Promise<Bench> {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-real-'));
  await chmod(directory, 0o711);
  const dataDirectory = join(directory, 'data');
  const building = {
    cpuMillicores: 2000,
    memoryBytes: 4e9,
    timeoutMs: 500_000,
    environment,
    installsUv: false,
    ...more,
  };
  const shimPackage = hasStandInShim ? await writeStandInShim(join(directory, 'shim')) : undefined;
  const runtime = await openProcessRuntime({ dataDirectory, path, building, cacheLimitBytes, shimPackage });
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
    prepare: async (id, project, organizationId = 'acme') => {
      const lines: string[] = [];
      const source: BotProjectSource = { kind: 'build', path: project, contentHash: id, organizationId };
      const prepared = await runtime.prepare({ id, source }, (line) => lines.push(line), neverAborted);
      return { prepared, lines };
    },
    start: async (instanceId, prepared) => {
      started.push(instanceId);
      const environment = async () => ({ BOT_CONTROL_TOKEN: 'token' });
      const spec = { instanceId, deploymentId: 'd', prepared, limits: resourceLimits, environment };
      return (await runtime.start(createTestInstanceSpec(spec), neverAborted)).address;
    },
  };
}

async function post(address: InstanceAddress, path: string, body: unknown): Promise<{ status: number; body: string }> {
  const headers = { 'content-type': 'application/json', 'x-bot-control-token': 'token', 'x-session-id': 'session' };
  const call = request({
    ...('socket' in address ? { socketPath: address.socket } : address),
    path,
    method: 'POST',
    headers,
    agent: false,
  });
  call.end(JSON.stringify(body));
  const [response] = await once(call, 'response');
  return { status: response.statusCode, body: await text(response) };
}

const pythonBot = `import itsdangerous
async def bot(args):
    print('signed', itsdangerous.__version__, args.body)
`;

describeUnless(noPython, 'Python projects', () => {
  describe('a Python project', () => {
    const path = `${uv}:${searchPath}`;

    it('runs with its dependencies, and reuses them when only bot.py has changed', async () => {
      const bench = await openBench(path);
      const files = { 'bot.py': pythonBot, 'requirements.txt': 'itsdangerous==2.2.0\n' };
      const first = await bench.prepare('first', await bench.project('one', files));
      expect(first.lines).toContain('> uv venv');
      expect(first.prepared).toMatchObject({ kind: 'python', main: 'bot.py' });
      const address = await bench.start('made', first.prepared);
      expect(await post(address, '/bot', { hello: 1 })).toMatchObject({ status: 200 });

      const changed = { ...files, 'bot.py': `${pythonBot}\n# changed` };
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

    it('runs with the dependencies in its pyproject.toml, but is not installed as a package itself', async () => {
      const bench = await openBench(path);
      const pyproject = `[project]
name = "signer"
version = "1"
requires-python = ">=3.9"
dependencies = ["itsdangerous==2.2.0"]
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
`;
      const { prepared } = await bench.prepare(
        'p',
        await bench.project('p', { 'bot.py': pythonBot, 'pyproject.toml': pyproject }),
      );
      const address = await bench.start('packaged', prepared);
      expect(await post(address, '/bot', {})).toMatchObject({ status: 200 });
    });

    it('downloads each package once per organization until the download cache exceeds its limit', async () => {
      const index = await startPackageIndex();
      const building = { environment: { PIP_INDEX_URL: index.url } };
      const bench = await openBench(path, { building, cacheLimitBytes: 400_000, hasStandInShim: true });
      // Append the project id to requirements.txt as a comment, so that each project gets its own Python environment.
      const prepare = async (id: string, organizationId: string, requirements = 'small\n') => {
        const files = { 'bot.py': '', 'requirements.txt': `${requirements}# ${id}\n` };
        await bench.prepare(id, await bench.project(id, files), organizationId);
        // List each package once, because uv requests the same wheel twice: for its metadata and for its content.
        return [...new Set(index.downloads.splice(0))];
      };
      expect(await prepare('a1', 'a')).toEqual(['small']);
      expect(await prepare('a2', 'a')).toEqual([]);
      expect(await prepare('b1', 'b')).toEqual(['small']);
      expect(await prepare('a3', 'a', 'large\n')).toEqual(['large']);
      expect(await prepare('a4', 'a')).toEqual(['small']);
      for (const cache of await readdir(join(bench.dataDirectory, 'caches'))) {
        expect((await stat(join(bench.dataDirectory, 'caches', cache))).mode & 0o777).toBe(0o700);
      }
    });

    it('is rejected with the status and last output of a failed command, and leaves no files', async () => {
      const bench = await openBench(path, { hasStandInShim: true });
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
});

testUnless(noPython, 'the driver installs uv once for all organizations if PATH does not contain uv', async () => {
  const bench = await openBench('/usr/bin:/bin', { building: { installsUv: true }, hasStandInShim: true });
  const prepare = async (id: string) => {
    const files = { 'bot.py': '', 'requirements.txt': 'itsdangerous==2.2.0\n' };
    return (await bench.prepare(id, await bench.project(id, files), id)).lines;
  };
  const installed = async () => {
    const path = join(bench.dataDirectory, 'tools/uv');
    const [version = ''] = await readdir(path);
    const { mode, uid, mtimeMs } = await stat(join(path, version, 'uv'));
    return { mode: mode & 0o777, uid, mtimeMs };
  };
  expect(await prepare('first')).toContain('> uv venv');
  const first = await installed();
  expect(first).toMatchObject({ mode: 0o755, uid: process.geteuid?.() });
  expect(await prepare('second')).toContain('> uv venv');
  expect(await installed()).toEqual(first);
});

testUnless(noPython, 'a build without uv fails with the reason and what to do', async () => {
  const building = { installsUv: true, environment: { PIP_INDEX_URL: 'http://me:password@127.0.0.1:1/' } };
  const bench = await openBench('/usr/bin:/bin', { building, hasStandInShim: true });
  const project = await bench.project('p', { 'bot.py': '' });
  const sentence =
    /^Installing Python packages needs uv, which the service could not install \(ERROR: No matching distribution .*\)\. Ask the operator to install uv in the PATH of the service, and deploy again\.$/;
  for (const id of ['first', 'second']) {
    const failed = bench.prepare(id, project);
    await expect(failed).rejects.toThrow(sentence);
    await expect(failed).rejects.not.toThrow('password');
  }
  expect(await readdir(join(bench.dataDirectory, 'tools/uv'))).toEqual([]);

  const never = await openBench('/usr/bin:/bin', { hasStandInShim: true });
  await expect(never.prepare('p', await never.project('p', { 'bot.py': '' }))).rejects.toThrow(/BOTHOST_INSTALL_UV/);
});

testUnless(noPython, 'a Python project with uv.lock is installed with the locked versions', async () => {
  const bench = await openBench(`${uv}:${searchPath}`);
  const project = await bench.project('locked', {
    'bot.py': pythonBot.replace('2.2.0', '2.1.0'),
    'pyproject.toml':
      '[project]\nname = "locked"\nversion = "1"\nrequires-python = ">=3.11"\ndependencies = ["itsdangerous<2.2"]\n',
  });
  await promisify(execFile)(join(uv, 'uv'), ['lock', '--quiet'], { cwd: project });
  const { prepared, lines } = await bench.prepare('locked', project);
  expect(lines).toContain('> uv sync --frozen');
  const address = await bench.start('locked', prepared);
  expect(await post(address, '/bot', {})).toMatchObject({ status: 200 });
});

testUnless(noPython, 'a Python bot in a uv workspace runs if the root of the workspace is deployed', async () => {
  const bench = await openBench(`${uv}:${searchPath}`);
  const member = (name: string, dependencies: string, more = '') =>
    `[project]\nname = "${name}"\nversion = "1"\nrequires-python = ">=3.11"\ndependencies = [${dependencies}]\n${more}`;
  const project = await bench.project('mono', {
    'bot.py': `import lib\n${pythonBot}`,
    'pyproject.toml': member(
      'root',
      '"lib", "itsdangerous==2.2.0"',
      '[tool.uv.workspace]\nmembers = ["lib"]\n[tool.uv.sources]\nlib = { workspace = true }\n',
    ),
    'lib/pyproject.toml': member(
      'lib',
      '',
      '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n',
    ),
    'lib/lib/__init__.py': '',
  });
  await promisify(execFile)(join(uv, 'uv'), ['lock', '--quiet'], { cwd: project });
  const { prepared } = await bench.prepare('mono', project);
  expect(await post(await bench.start('mono', prepared), '/bot', {})).toMatchObject({ status: 200 });
});

describeUnless(noPython, 'a uv.lock', () => {
  const manifest = (dependencies: string, more = '') =>
    `[project]\nname = "locked"\nversion = "1"\nrequires-python = ">=3.11"\ndependencies = [${dependencies}]\n${more}`;
  const locked = '"itsdangerous<2.2", "markupsafe"';
  const openLocked = async (environmentOfBuilds: Readonly<Record<string, string>> = {}) => {
    const building = { environment: { ...environment, ...environmentOfBuilds } };
    const bench = await openBench(`${uv}:${searchPath}`, { building, hasStandInShim: true });
    const project = await bench.project('locked', { 'bot.py': '', 'pyproject.toml': manifest(locked) });
    await promisify(execFile)(join(uv, 'uv'), ['lock', '--quiet'], { cwd: project });
    return { bench, project };
  };

  it.each([
    ['a dependency was added', manifest(`${locked}, "click"`)],
    ['a dependency was removed', manifest('"itsdangerous<2.2"')],
    ['the bounds of a dependency changed', manifest('"itsdangerous<2.1", "markupsafe"')],
    ['requires-python changed', manifest(locked).replace('>=3.11', '>=3.10')],
    ['an optional dependency was added', manifest(locked, '[project.optional-dependencies]\nmore = ["click"]\n')],
    ['the project was renamed', manifest(locked).replace('"locked"', '"renamed"')],
  ])('is rejected as stale with one sentence if %s', async (_, changed) => {
    const { bench, project } = await openLocked();
    await writeFile(join(project, 'pyproject.toml'), changed);
    await expect(bench.prepare('stale', project)).rejects.toThrow(
      /^uv\.lock does not match pyproject\.toml\. Run "uv lock" in the project, and deploy it again\.$/,
    );
  });

  it.each([
    [
      'was locked with another package index than that of the operator',
      { UV_DEFAULT_INDEX: 'http://127.0.0.1:1/simple' },
    ],
    ['was locked with another package index than pip of the operator', { PIP_INDEX_URL: 'http://127.0.0.1:1/simple' }],
    ['was locked without the further package index of the operator', { UV_INDEX: 'http://127.0.0.1:1/simple' }],
  ])('is not stale if it %s', async (_, mirror) => {
    const { bench, project } = await openLocked(mirror);
    // The index of the operator does not respond, so the build fails after the check, or succeeds from the URLs of the lock file.
    const message = await bench.prepare('mirrored', project).then(
      () => '',
      (error: Error) => error.message,
    );
    expect(message).not.toContain('does not match');
  });

  it.each([
    { UV_EXCLUDE_NEWER: '2026-11-01T00:00:00Z' },
    { UV_EXCLUDE_NEWER: '7 days' },
    { UV_RESOLUTION: 'lowest-direct', UV_PRERELEASE: 'allow', UV_FORK_STRATEGY: 'fewest' },
  ])('is not stale if it was locked with settings that the build lacks: %o', async (settings) => {
    const { bench, project } = await openLocked();
    await writeFile(join(project, 'pyproject.toml'), manifest('"markupsafe>=2", "itsdangerous>=2"'));
    await promisify(execFile)(join(uv, 'uv'), ['lock', '--quiet'], {
      cwd: project,
      env: { ...inject('surroundings'), ...settings },
    });
    expect((await bench.prepare('settings', project)).lines).toContain('> uv sync --frozen');
  });

  it('is not stale if pyproject.toml changed only its form', async () => {
    const { bench, project } = await openLocked();
    await writeFile(join(project, 'pyproject.toml'), manifest('"MarkupSafe", "itsdangerous <2.2"', '[tool.ruff]\n'));
    expect((await bench.prepare('same', project)).lines).toContain('> uv sync --frozen');
  });
});

testUnless(
  noPython,
  'a Python project that requires another Python version is rejected with a message that names the installed version',
  async () => {
    const bench = await openBench();
    const project = await bench.project('new', {
      'bot.py': pythonBot,
      'pyproject.toml': '[project]\nname = "new"\nversion = "1"\nrequires-python = ">=3.99"\n',
    });
    await expect(bench.prepare('new', project)).rejects.toThrow(
      /pyproject\.toml requires Python >=3\.99 .*, but this machine has only 3\./,
    );
  },
);

const nodeBot = `const { nanoid } = require('nanoid/non-secure');
require('http').createServer((request, response) => response.end(nanoid())).listen(process.env.PORT, '127.0.0.1');`;

describe('a Node project', () => {
  it('is installed from its lock file under a separate account, and its files then belong to root', async () => {
    const bench = await openBench();
    const manifest = { name: 'locked', version: '1.0.0', main: 'main.js', dependencies: { nanoid: '^3.3.0' } };
    const project = await bench.project('locked', { 'package.json': JSON.stringify(manifest), 'main.js': nodeBot });
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
    const { uid, gid } = await stat(join(installed, 'package.json'));
    expect([uid, gid]).toEqual(isRoot ? [0, prepared['gid']] : [process.getuid?.(), process.getgid?.()]);
    const address = await bench.start('node', prepared);
    expect((await post(address, '/', {})).body).toHaveLength(21);
  });

  it('is rejected if its package-lock.json is stale', async () => {
    const bench = await openBench();
    const write = (dependencies: object) =>
      bench.project('stale', { 'package.json': JSON.stringify({ main: 'main.js', dependencies }), 'main.js': nodeBot });
    const project = await write({ nanoid: '3.3.8' });
    await promisify(execFile)('npm', ['install', '--package-lock-only', '--no-audit', '--no-fund'], { cwd: project });
    await write({ nanoid: '3.3.8', 'is-number': '7.0.0' });
    await expect(bench.prepare('stale', project)).rejects.toThrow(/"npm ci --omit=dev" failed[\s\S]*npm install/);
  });

  it('runs as a package of a workspace if the root of the workspace is deployed', async () => {
    const bench = await openBench();
    const project = await bench.project('mono', {
      'package.json': JSON.stringify({ private: true, workspaces: ['bot', 'lib'], main: 'bot/main.js' }),
    });
    for (const folder of ['bot', 'lib']) await mkdir(join(project, folder));
    const bot = { name: 'bot', version: '1.0.0', dependencies: { lib: '1.0.0' } };
    await writeFile(join(project, 'bot/package.json'), JSON.stringify(bot));
    await writeFile(join(project, 'bot/main.js'), nodeBot.replace('nanoid/non-secure', 'lib'));
    const lib = { name: 'lib', version: '1.0.0', dependencies: { nanoid: '3.3.8' } };
    await writeFile(join(project, 'lib/package.json'), JSON.stringify(lib));
    await writeFile(join(project, 'lib/index.js'), "module.exports = require('nanoid/non-secure');");
    await promisify(execFile)('npm', ['install', '--package-lock-only', '--no-audit', '--no-fund'], { cwd: project });
    const { prepared } = await bench.prepare('mono', project);
    expect((await post(await bench.start('mono', prepared), '/', {})).body).toHaveLength(21);
  });

  it('causes a warning if it has no lock file, and loses its development dependencies after the build', async () => {
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
      'main.js': nodeBot,
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
  ['pnpm', 'pnpm@10.18.3', ['install', '--lockfile-only'], 'removed'],
  ['yarn', 'yarn@1.22.22', ['install', '--non-interactive'], 'removed'],
  ['yarn', '@yarnpkg/cli-dist@4.18.1', ['install', '--mode=update-lockfile'], 'kept'],
])('a project with a lock file of %s (%s)', (tool, spec, lock, developmentDependencies) => {
  it('is installed by that tool and started, and rejected if the lock file is stale', async () => {
    const tools = await createTestDirectory(0o755);
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
      'build.js': `require('is-number'); require('fs').writeFileSync('built.js', ${JSON.stringify(nodeBot)});`,
    });
    await run(join(bin, tool), lock, { cwd: project });
    const { prepared, lines } = await bench.prepare('other', project);
    expect(lines.filter((line) => line.startsWith(`> ${tool} `)).length).toBeGreaterThan(1);
    const installed = await readdir(join(bench.dataDirectory, 'projects/other/node_modules'));
    expect(installed.includes('is-number') ? 'kept' : 'removed').toBe(developmentDependencies);
    expect((await post(await bench.start('other', prepared), '/', {})).body).toHaveLength(21);
    const manifest = JSON.parse(await readFile(join(project, 'package.json'), 'utf8'));
    manifest.dependencies['is-odd'] = '3.0.1';
    await writeFile(join(project, 'package.json'), JSON.stringify(manifest));
    await expect(bench.prepare('stale', project)).rejects.toThrow(
      /install --(?:frozen-lockfile|immutable).*" failed with status 1/,
    );
  });
});
