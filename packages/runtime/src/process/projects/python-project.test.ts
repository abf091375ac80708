import { describe, expect, it } from 'vitest';
import { writeProject } from '../../../test/process/test-project.ts';
import { environmentCommands, environmentKey } from './python-environment.ts';
import { readPythonProject } from './python-project.ts';

const pyproject = (dependencies: readonly string[], more = '') =>
  `[project]\nname = "My.Bot"\nrequires-python = ">=3.11"\ndependencies = ${JSON.stringify(dependencies)}\n${more}`;

const tools = (uv: string | null) => ({ python: { path: '/usr/bin/python3.11', version: '3.11.2' }, uv });
const place = {
  environment: '/env',
  project: '/project',
  constraints: '/home/constraints.txt',
  shimRequirements: '/inputs/shim.txt',
  projectRequirements: '/inputs/project.txt',
};

async function titlesOf(files: Readonly<Record<string, string>>, uv: string | null) {
  const project = readPythonProject(await writeProject(files), uv !== null);
  return { ...project, titles: environmentCommands(project, tools(uv), place).map(({ title }) => title) };
}

describe('a Python project', () => {
  it.each([
    [
      'a lock of uv',
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
  ])('with %s is installed from it, and the shim needs come last', async (_, files, withUv, withPip) => {
    const last = ['what is installed', expect.stringContaining('what the host shim needs')];
    expect((await titlesOf(files, '/bin/uv')).titles).toEqual(['uv venv', withUv, ...last]);
    expect((await titlesOf(files, null)).titles).toEqual(['python -m venv', withPip, ...last]);
  });

  it('is warned when its lock cannot be read for want of uv', async () => {
    const files = { 'pyproject.toml': pyproject(['a']), 'uv.lock': '' };
    expect((await titlesOf(files, null)).notes).toEqual([expect.stringMatching(/^warning: uv\.lock is not respected/)]);
    expect((await titlesOf(files, '/bin/uv')).notes).toEqual([]);
  });

  it('gets the optional dependencies that it asks of itself', async () => {
    const files = {
      'pyproject.toml': pyproject(
        ['a', 'my-bot[voice, all]'],
        '[project.optional-dependencies]\nvoice = ["b"]\nall = ["my_bot[voice]", "c"]\n',
      ),
    };
    expect((await titlesOf(files, null)).dependencies).toEqual({ kind: 'pyproject', list: ['a', 'b', 'c'] });
  });

  it('whose optional dependencies all ask for each other is read as fast as any', async () => {
    const names = Array.from({ length: 40 }, (_, index) => `e${index}`);
    const lists = names.map((name) => `${name} = ["my-bot[${names}]", "of-${name}"]\n`);
    const text = pyproject(['my-bot[e0]'], `[project.optional-dependencies]\n${lists.join('')}`);
    const { dependencies } = await titlesOf({ 'pyproject.toml': text }, null);
    const list = dependencies.kind === 'pyproject' ? dependencies.list : null;
    expect([...(list ?? [])].sort()).toEqual(names.map((name) => `of-${name}`).sort());
  });

  it('without anything to install gets an environment all the same', async () => {
    const found = await titlesOf({ 'bot.py': '', 'pyproject.toml': '[tool.ruff]\nline-length = 100\n' }, null);
    expect(found.titles[0]).toBe('python -m venv');
    expect(found.notes).toEqual([expect.stringContaining('nothing is installed')]);
  });

  it.each([
    ['Poetry alone knows', '[tool.poetry.dependencies]\npython = "^3.11"\n', /for Poetry only: move them/],
    [
      'its build backend alone knows',
      '[project]\nname = "a"\nversion = "1"\ndynamic = ["dependencies"]\n',
      /install uv for the service, or write/,
    ],
    ['nobody can read', '[project', /pyproject\.toml is not valid/],
    ['are no list', '[project]\nname = "a"\ndependencies = "b"\n', /pyproject\.toml is not valid/],
  ])('whose dependencies %s is refused with what to do', async (_, text, sentence) => {
    await expect(titlesOf({ 'pyproject.toml': text }, null)).rejects.toThrow(sentence);
  });
});

describe('the name of an environment', () => {
  const keyOf = async (
    files: Readonly<Record<string, string>>,
    uv: string | null = null,
    id = 'id',
    shim = ['uvicorn'],
  ) => {
    const directory = await writeProject(files);
    return environmentKey(directory, id, readPythonProject(directory, uv !== null), tools(uv), shim);
  };
  const files = { 'requirements.txt': '-r more.txt\na\n', 'more.txt': 'b\n', 'bot.py': '1' };

  it('is the same for the same dependencies, whatever else is in the project', async () => {
    expect(await keyOf({ ...files, 'bot.py': '2', 'new.py': '' }, null, 'other')).toBe(await keyOf(files));
  });

  it.each([
    ['a requirement', () => keyOf({ ...files, 'requirements.txt': '-r more.txt\nc\n' })],
    ['an included file', () => keyOf({ ...files, 'more.txt': 'c\n' })],
    ['the tool', () => keyOf(files, '/bin/uv')],
    ['what the shim asks for', () => keyOf(files, null, 'id', ['uvicorn', 'fastapi'])],
  ])('differs with %s', async (_, other) => {
    expect(await other()).not.toBe(await keyOf(files));
  });

  it.each([
    ['a folder', { 'requirements.txt': './greeting\n' }],
    ['an editable', { 'requirements.txt': '-e ./greeting\n' }],
    ['an address of a file', { 'requirements.txt': 'greeting @ file:greeting.whl\n' }],
    ['an archive', { 'requirements.txt': 'wheels/greeting-1-py3-none-any.whl\n' }],
  ])('is its own for each content where %s of the project is installed', async (_, local) => {
    expect(await keyOf(local, null, 'one')).not.toBe(await keyOf(local, null, 'two'));
  });

  it('is its own for each content where uv takes a folder of the project', async () => {
    const local = {
      'pyproject.toml': pyproject(['greeting'], '[tool.uv.sources]\ngreeting = { path = "greeting" }\n'),
    };
    expect(await keyOf(local, '/bin/uv', 'one')).not.toBe(await keyOf(local, '/bin/uv', 'two'));
  });
});
