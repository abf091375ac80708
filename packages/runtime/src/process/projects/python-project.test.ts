import { describe, expect, it } from 'vitest';
import { writeProject } from '../../../test/process/test-project.ts';
import { computePythonEnvironmentHash, listEnvironmentSetupCommands } from './python-environment.ts';
import { readPythonProject } from './python-project.ts';

const pyproject = (dependencies: readonly string[], more = '') =>
  `[project]\nname = "My.Bot"\nrequires-python = ">=3.11"\ndependencies = ${JSON.stringify(dependencies)}\n${more}`;

const tools = { python: { path: '/usr/bin/python3.11', version: '3.11.2' }, uv: '/bin/uv' };
const paths = {
  environment: '/env',
  project: '/project',
  constraints: '/home/constraints.txt',
  shimRequirements: '/inputs/shim.txt',
};

async function titlesOf(files: Readonly<Record<string, string>>) {
  const project = readPythonProject(await writeProject(files));
  return { ...project, titles: listEnvironmentSetupCommands(project, tools, paths).map(({ title }) => title) };
}

describe('readPythonProject and listEnvironmentSetupCommands', () => {
  it.each([
    [
      'uv.lock',
      { 'pyproject.toml': pyproject(['a']), 'uv.lock': '', 'requirements.txt': 'b' },
      ['uv lock --locked', 'uv sync --frozen'],
    ],
    [
      'requirements.txt',
      { 'pyproject.toml': pyproject(['a']), 'requirements.txt': 'b' },
      ['uv pip install -r requirements.txt'],
    ],
    ['pyproject.toml', { 'pyproject.toml': pyproject(['a']) }, ['uv pip install -r pyproject.toml']],
  ])(
    'install dependencies from the file %s, then the packages that bothost needs to run the bot',
    async (_, files, titles) => {
      const last = ['list installed packages', 'uv pip install requirements of the host shim'];
      expect((await titlesOf(files)).titles).toEqual(['uv venv', ...titles, ...last]);
    },
  );

  it.each(['poetry.lock', 'pdm.lock', 'Pipfile.lock', 'pylock.toml'])('warn that %s is not read', async (name) => {
    const files = { 'pyproject.toml': pyproject(['a']), [name]: '' };
    expect((await titlesOf(files)).notes).toEqual([expect.stringContaining(`warning: ${name} is not read`)]);
    expect((await titlesOf({ ...files, 'requirements.txt': 'a' })).notes).toHaveLength(1);
    expect((await titlesOf({ ...files, 'uv.lock': '' })).notes).toEqual([]);
  });

  it('return a command that creates an environment even for a project without dependencies', async () => {
    const found = await titlesOf({ 'bot.py': '', 'pyproject.toml': '[tool.ruff]\nline-length = 100\n' });
    expect(found.titles[0]).toBe('uv venv');
    expect(found.notes).toEqual([expect.stringContaining('nothing is installed')]);
  });

  it.each([
    ['for Poetry only', '[tool.poetry.dependencies]\npython = "^3.11"\n', /only for Poetry\. Move them/],
    [
      'from a uv workspace that was not deployed',
      pyproject(['lib'], '[tool.uv.sources]\nlib = { workspace = true }\n'),
      /needs lib from its uv workspace, .* Set context_dir below \(build\)/,
    ],
    ['in invalid TOML', '[project', /pyproject\.toml is not valid/],
    ['that are not a list', '[project]\nname = "a"\ndependencies = "b"\n', /pyproject\.toml is not valid/],
  ])('reject a pyproject.toml with dependencies %s', async (_, text, sentence) => {
    await expect(titlesOf({ 'pyproject.toml': text })).rejects.toThrow(sentence);
  });
});

describe('computePythonEnvironmentHash', () => {
  const hashOf = async (files: Readonly<Record<string, string>>, id = 'id', shim = ['uvicorn']) => {
    const directory = await writeProject(files);
    return computePythonEnvironmentHash(directory, id, readPythonProject(directory), tools, shim);
  };
  const files = { 'requirements.txt': '-r more.txt\na\n', 'more.txt': 'b\n', 'bot.py': '1' };

  it('returns the same hash for projects with equal dependencies', async () => {
    expect(await hashOf({ ...files, 'bot.py': '2', 'new.py': '' }, 'other')).toBe(await hashOf(files));
  });

  it.each([
    ['a requirement', () => hashOf({ ...files, 'requirements.txt': '-r more.txt\nc\n' })],
    ['an included requirements file', () => hashOf({ ...files, 'more.txt': 'c\n' })],
    ["the shim's requirements", () => hashOf(files, 'id', ['uvicorn', 'fastapi'])],
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
      expect(await hashOf(local, 'one')).not.toBe(await hashOf(local, 'two'));
    },
  );

  it('returns different hashes for equal projects if their uv sources refer to a directory in the project', async () => {
    const local = {
      'pyproject.toml': pyproject(['greeting'], '[tool.uv.sources]\ngreeting = { path = "greeting" }\n'),
    };
    expect(await hashOf(local, 'one')).not.toBe(await hashOf(local, 'two'));
  });

  it.each([
    ['a dependency', pyproject(['greeting @ file:greeting.whl'])],
    [
      'an extra that a dependency names',
      pyproject(['my-bot[voice]'], '[project.optional-dependencies]\nvoice = ["greeting @ file:greeting.whl"]\n'),
    ],
  ])(
    'returns different hashes for equal projects if %s in pyproject.toml is a file in the project',
    async (_, text) => {
      const local = { 'pyproject.toml': text };
      expect(await hashOf(local, 'one')).not.toBe(await hashOf(local, 'two'));
    },
  );
});
