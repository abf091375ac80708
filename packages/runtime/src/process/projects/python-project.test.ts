import { describe, expect, it } from 'vitest';
import { writeProject } from '../../../test/process/test-project.ts';
import { computePythonEnvironmentHash, listEnvironmentSetupCommands } from './python-environment.ts';
import { readPythonProject } from './python-project.ts';

const pyproject = (dependencies: readonly string[], more = '') =>
  `[project]\nname = "My.Bot"\nrequires-python = ">=3.11"\ndependencies = ${JSON.stringify(dependencies)}\n${more}`;

const tools = (uv: string | null) => ({ python: { path: '/usr/bin/python3.11', version: '3.11.2' }, uv });
const paths = {
  environment: '/env',
  project: '/project',
  constraints: '/home/constraints.txt',
  shimRequirements: '/inputs/shim.txt',
  projectRequirements: '/inputs/project.txt',
};

async function titlesOf(files: Readonly<Record<string, string>>, uv: string | null) {
  const project = readPythonProject(await writeProject(files), uv !== null);
  return { ...project, titles: listEnvironmentSetupCommands(project, tools(uv), paths).map(({ title }) => title) };
}

describe('readPythonProject and listEnvironmentSetupCommands', () => {
  it.each([
    [
      'uv.lock',
      { 'pyproject.toml': pyproject(['a']), 'uv.lock': '', 'requirements.txt': 'b' },
      'uv sync --frozen',
      'pip install -r requirements.txt',
    ],
    [
      'requirements.txt',
      { 'pyproject.toml': pyproject(['a']), 'requirements.txt': 'b' },
      'uv pip install -r requirements.txt',
      'pip install -r requirements.txt',
    ],
    [
      'pyproject.toml',
      { 'pyproject.toml': pyproject(['a']) },
      'uv pip install -r pyproject.toml',
      'pip install dependencies',
    ],
  ])(
    'install dependencies from the file %s, then the packages that bothost needs to run the bot',
    async (_, files, withUv, withPip) => {
      const last = ['list installed packages', expect.stringContaining('requirements of the host shim')];
      const check = withUv.startsWith('uv sync') ? ['uv lock --locked'] : [];
      expect((await titlesOf(files, '/bin/uv')).titles).toEqual(['uv venv', ...check, withUv, ...last]);
      expect((await titlesOf(files, null)).titles).toEqual(['python -m venv', withPip, ...last]);
    },
  );

  it('warn that uv.lock is ignored without uv', async () => {
    const files = { 'pyproject.toml': pyproject(['a']), 'uv.lock': '' };
    expect((await titlesOf(files, null)).notes).toEqual([expect.stringMatching(/^warning: uv\.lock is ignored/)]);
    expect((await titlesOf(files, '/bin/uv')).notes).toEqual([]);
  });

  it.each(['poetry.lock', 'pdm.lock', 'Pipfile.lock', 'pylock.toml'])('warn that %s is not read', async (name) => {
    const files = { 'pyproject.toml': pyproject(['a']), [name]: '' };
    for (const uv of ['/bin/uv', null]) {
      expect((await titlesOf(files, uv)).notes).toEqual([expect.stringContaining(`warning: ${name} is not read`)]);
      expect((await titlesOf({ ...files, 'requirements.txt': 'a' }, uv)).notes).toHaveLength(1);
    }
    expect((await titlesOf({ ...files, 'uv.lock': '' }, '/bin/uv')).notes).toEqual([]);
  });

  it('resolve optional dependencies (extras) that refer to the project itself', async () => {
    const files = {
      'pyproject.toml': pyproject(
        ['a', 'my-bot[voice, all]'],
        '[project.optional-dependencies]\nvoice = ["b"]\nall = ["my_bot[voice]", "c"]\n',
      ),
    };
    expect((await titlesOf(files, null)).dependencies).toEqual({ kind: 'pyproject', list: ['a', 'b', 'c'] });
  });

  it('include each optional dependency group (extra) once even if extras refer to each other', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `e${index}`);
    const lists = names.map((name) => `${name} = ["my-bot[${names}]", "of-${name}"]\n`);
    const text = pyproject(['my-bot[e0]'], `[project.optional-dependencies]\n${lists.join('')}`);
    const { dependencies } = await titlesOf({ 'pyproject.toml': text }, null);
    const list = dependencies.kind === 'pyproject' ? dependencies.list : null;
    expect([...(list ?? [])].sort()).toEqual(names.map((name) => `of-${name}`).sort());
  });

  it('return a command that creates an environment even for a project without dependencies', async () => {
    const found = await titlesOf({ 'bot.py': '', 'pyproject.toml': '[tool.ruff]\nline-length = 100\n' }, null);
    expect(found.titles[0]).toBe('python -m venv');
    expect(found.notes).toEqual([expect.stringContaining('nothing is installed')]);
  });

  it.each([
    ['for Poetry only', '[tool.poetry.dependencies]\npython = "^3.11"\n', /only for Poetry\. Move them/],
    [
      'that are dynamic, without uv',
      '[project]\nname = "a"\nversion = "1"\ndynamic = ["dependencies"]\n',
      /install uv, or list/,
    ],
    [
      'from a uv workspace that was not deployed',
      pyproject(['lib'], '[tool.uv.sources]\nlib = { workspace = true }\n'),
      /needs lib from its uv workspace, .* Set context_dir below \(build\)/,
    ],
    ['in invalid TOML', '[project', /pyproject\.toml is not valid/],
    ['that are not a list', '[project]\nname = "a"\ndependencies = "b"\n', /pyproject\.toml is not valid/],
  ])('reject a pyproject.toml with dependencies %s', async (_, text, sentence) => {
    await expect(titlesOf({ 'pyproject.toml': text }, null)).rejects.toThrow(sentence);
  });
});

describe('computePythonEnvironmentHash', () => {
  const hashOf = async (
    files: Readonly<Record<string, string>>,
    uv: string | null = null,
    id = 'id',
    shim = ['uvicorn'],
  ) => {
    const directory = await writeProject(files);
    return computePythonEnvironmentHash(directory, id, readPythonProject(directory, uv !== null), tools(uv), shim);
  };
  const files = { 'requirements.txt': '-r more.txt\na\n', 'more.txt': 'b\n', 'bot.py': '1' };

  it('returns the same hash for projects with equal dependencies', async () => {
    expect(await hashOf({ ...files, 'bot.py': '2', 'new.py': '' }, null, 'other')).toBe(await hashOf(files));
  });

  it.each([
    ['a requirement', () => hashOf({ ...files, 'requirements.txt': '-r more.txt\nc\n' })],
    ['an included requirements file', () => hashOf({ ...files, 'more.txt': 'c\n' })],
    ['the installer (uv or pip)', () => hashOf(files, '/bin/uv')],
    ["the shim's requirements", () => hashOf(files, null, 'id', ['uvicorn', 'fastapi'])],
  ])('returns a different hash for projects that differ in %s', async (_, other) => {
    expect(await other()).not.toBe(await hashOf(files));
  });

  it.each([
    ['a directory', { 'requirements.txt': './greeting\n' }],
    ['an editable', { 'requirements.txt': '-e ./greeting\n' }],
    ['a file URL', { 'requirements.txt': 'greeting @ file:greeting.whl\n' }],
    ['an archive', { 'requirements.txt': 'wheels/greeting-1-py3-none-any.whl\n' }],
  ])(
    'returns a different hash for each project whose requirements.txt refers to files in the project: %s',
    async (_, local) => {
      expect(await hashOf(local, null, 'one')).not.toBe(await hashOf(local, null, 'two'));
    },
  );

  it('returns different hashes for equal projects if their uv sources refer to a directory in the project', async () => {
    const local = {
      'pyproject.toml': pyproject(['greeting'], '[tool.uv.sources]\ngreeting = { path = "greeting" }\n'),
    };
    expect(await hashOf(local, '/bin/uv', 'one')).not.toBe(await hashOf(local, '/bin/uv', 'two'));
  });
});
