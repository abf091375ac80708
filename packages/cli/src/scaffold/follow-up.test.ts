import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { runProgram } from '../../test/run-program.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'botcli-follow-up-'));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(directory, { recursive: true, force: true });
});

const choices = ['-t', 'lightrtc', '-m', 'realtime', '--realtime', 'openai_realtime'];
const git = (place: string, ...args: readonly string[]) =>
  execFileSync('git', args, { cwd: join(directory, place), encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

/** Makes the git identity independent of the machine that runs the test. */
async function withIdentity(settings: string): Promise<void> {
  const file = join(directory, 'gitconfig');
  await writeFile(file, `[user]\n${settings}`);
  vi.stubEnv('GIT_CONFIG_GLOBAL', file);
  vi.stubEnv('GIT_CONFIG_SYSTEM', '/dev/null');
}
beforeEach(() => withIdentity('name = Ada\nemail = ada@example.com\n'));

const committed = (repository: string) => git(repository, 'ls-tree', '-r', '--name-only', 'HEAD').split('\n');

test('--git creates a repository whose first commit has the whole project', async () => {
  const { status } = await runProgram(['init', 'demo', ...choices, '--git'], { directory });
  expect(status).toBe(0);
  expect(git('demo', 'log', '--format=%an: %s')).toBe('Ada: Create the project with botcli init\n');
  expect(committed('demo')).toContain('server/bot.py');
  expect(committed('demo')).toContain('.botcli/project.json');
  expect(git('demo', 'status', '--short')).toBe('');
});

test('--git prints a warning and keeps the project if git has no author identity', async () => {
  await withIdentity('useConfigOnly = true\n');
  const { status, stderr } = await runProgram(['init', 'demo', ...choices, '--git'], { directory });
  expect(status).toBe(0);
  expect(stderr).toContain('git config --global user.email');
  const line = "git commit --quiet --message 'Create the project with botcli init'";
  expect(stderr).toMatch(new RegExp(`warning: ${line} exited with status 128 in .*/demo. The project was written`));
  expect(git('demo', 'ls-files').split('\n')).toContain('server/bot.py');
});

test('--git creates no repository inside another repository', async () => {
  await mkdir(join(directory, 'outer'));
  git('outer', 'init', '--quiet');
  await runProgram(['init', 'outer/demo', ...choices, '--git'], { directory });
  expect(git('outer/demo', 'rev-parse', '--show-toplevel').trim()).toMatch(/outer$/);
  expect(git('outer', 'status', '--short').trim()).toBe('?? demo/');
});

test.each([
  [
    'the wizard',
    ['demo', 'wizard', ...['', 'web', 'none', 'lightrtc', 'none', 'realtime', 'openai_realtime'], [], 'create'],
    'server/bot.py',
  ],
  ['guides for a coding agent', ['demo', 'agent'], 'AGENTS.md'],
])('--git creates a repository if the user chooses %s on a terminal', async (_what, answers, path) => {
  const { status } = await runProgram(['init', '--git'], { directory, terminal: true, answers });
  expect(status).toBe(0);
  expect(committed('demo')).toContain(path);
});

test('--git creates a repository for the quickstart', async () => {
  await runProgram(['init', 'quickstart', '--git'], { directory });
  expect(committed('botcli-quickstart')).toContain('server/bot.py');
});

test('Ctrl-C during git exits with 130 and keeps the project', async () => {
  const interruption = new AbortController();
  const onStderr = (text: string) => {
    if (text.startsWith('git init')) interruption.abort();
  };
  const given = { directory, signal: interruption.signal, onStderr };
  const { status, stdout, stderr } = await runProgram(['init', 'demo', ...choices, '--git'], given);
  expect({ status, stdout }).toEqual({ status: 130, stdout: '' });
  expect(stderr).toContain('Canceled. The project was written.');
  expect(stderr).not.toContain('git add');
  expect(existsSync(join(directory, 'demo/server/bot.py'))).toBe(true);
});

test('--install reports that there is nothing to install if init wrote only guides for a coding agent', async () => {
  const answers = ['demo', 'agent'];
  const { stderr } = await runProgram(['init', '--install'], { directory, terminal: true, answers });
  expect(stderr).toContain('Nothing to install');
});

describe('--install', () => {
  /**
   * Replaces all programs with scripts that log their directory and arguments, because the real programs would download
   * packages.
   */
  async function programs(scripts: Readonly<Record<string, string>>): Promise<void> {
    const bin = join(directory, 'bin');
    await mkdir(bin);
    for (const [name, script] of Object.entries(scripts)) {
      const note = `echo "\${PWD##*/}: ${name} $*" >> '${join(directory, 'noted')}'`;
      await writeFile(join(bin, name), `#!/bin/sh\n${note}\n${script}\n`);
      await chmod(join(bin, name), 0o755);
    }
    vi.stubEnv('PATH', bin);
  }
  const loggedCommands = async () => (await readFile(join(directory, 'noted'), 'utf8')).trim().split('\n');
  const install = (...more: readonly string[]) =>
    runProgram(['init', 'demo', ...choices, ...more, '--install'], { directory });
  const vanilla = ['--client-framework', 'vanilla'];

  const executable = execFileSync('python3', ['-c', 'import sys; print(sys.executable)'], { encoding: 'utf8' }).trim();
  /** Creates a fake python3 that reports this version. */
  const python = (version: string) => `
if [ "$1" = -c ]; then
  exec '${executable}' -c "import sys; sys.version_info = (${version}); $2"
fi`;
  const fallback = (version: string, pip = '') => `${python(version)}
PATH=/usr/bin:/bin
mkdir -p .venv/bin
cat > .venv/bin/python <<'end'
#!/bin/sh
echo "\${PWD##*/}: $0 $*" >> '${join(directory, 'noted')}'
${pip}
end
chmod +x .venv/bin/python`;

  test('installs the bot with uv and the client with the package manager', async () => {
    await programs({ uv: '', npm: '', python3: '' });
    const { status, stderr } = await install(...vanilla);
    expect({ status, warned: stderr.includes('warning') }).toEqual({ status: 0, warned: false });
    expect(await loggedCommands()).toEqual(['server: uv --version', 'server: uv sync', 'client: npm install']);
  });

  test('installs the same dependencies with pip into .venv if there is no uv', async () => {
    await programs({ python3: fallback('3, 11') });
    const { status, stderr } = await install();
    expect({ status, warned: stderr.includes('warning') }).toEqual({ status: 0, warned: false });
    expect(stderr).toContain('uv is not installed; using pip.');
    const [, venv, pip = ''] = await loggedCommands();
    expect(venv).toBe('server: python3 -m venv .venv');
    const [, requirement] =
      /dependencies = \[\s*"(.*)",/.exec(await readFile(join(directory, 'demo/server/pyproject.toml'), 'utf8')) ?? [];
    expect(pip).toBe(`server: .venv/bin/python -m pip install --quiet --disable-pip-version-check ${requirement}`);
  });

  test('installs nothing if python3 is too old for the bot', async () => {
    await programs({ python3: fallback('3, 11') });
    const { status, stderr } = await runProgram(
      ['init', 'demo', '-t', 'lightrtc', '-m', 'realtime', '--realtime', 'aws_nova_realtime', '--install'],
      { directory },
    );
    expect(status).toBe(0);
    expect(stderr).toContain('Nothing was installed: the bot needs Python 3.12, and python3 is older. Install uv');
    expect(await loggedCommands()).toHaveLength(1);
    expect(existsSync(join(directory, 'demo/server/bot.py'))).toBe(true);
  });

  test.each([
    [
      'uv sync',
      { uv: '[ "$1" = sync ] && { echo no wheel >&2; exit 2; }; exit 0', npm: '' },
      'exited with status 2',
      'no wheel',
    ],
    ['python3 -m venv .venv', { npm: '' }, 'could not be started', 'uv is not installed'],
    ['npm install', { uv: '', npm: 'echo no network >&2; exit 7' }, 'exited with status 7', 'no network'],
  ])(
    'warns that the command %s failed, runs the other commands, and keeps the project',
    async (line, scripts, outcome, cause) => {
      await programs(scripts);
      const { status, stdout, stderr } = await install(...vanilla);
      expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringContaining('Files written') });
      expect(stderr).toContain(cause);
      expect(stderr).toMatch(new RegExp(`warning: ${line} ${outcome} in .*. The project was written.`));
      expect((await loggedCommands()).at(-1)).toBe('client: npm install');
      expect(existsSync(join(directory, 'demo/server/bot.py'))).toBe(true);
    },
  );

  test('shows the output of pip if it fails', async () => {
    await programs({ python3: fallback('3, 13', 'echo no such release >&2; exit 1') });
    const { status, stderr } = await install();
    expect(status).toBe(0);
    expect(stderr).toContain('no such release');
    expect(stderr).toMatch(/warning: \.venv\/bin\/python -m pip install .* exited with status 1 in /);
  });
});

test.each([
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['package-lock.json', 'npm'],
])(
  'if the directory contains the lock file %s, the next steps of init use the package manager %s',
  async (lock, manager) => {
    await writeFile(join(directory, lock), '');
    const { stdout } = await runProgram(['init', 'demo', ...choices, '--client-framework', 'vanilla'], { directory });
    expect(stdout).toContain(`${manager} install && ${manager} run dev`);
  },
);

test('the next steps that init prints use the package manager that ran botcli', async () => {
  const variables = { npm_config_user_agent: 'pnpm/10.1.0 npm/? node/v22' };
  const { stdout } = await runProgram(['init', 'demo', ...choices, '--client-framework', 'vanilla'], {
    directory,
    variables,
  });
  expect(stdout).toContain('pnpm install && pnpm run dev');
});
