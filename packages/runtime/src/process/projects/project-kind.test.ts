import { expect, it } from 'vitest';
import { writeProject } from '../../../test/process/test-project.ts';
import { ProjectPreparationError } from '../../runtime.ts';
import { detectProjectKind } from './project-kind.ts';

it.each([
  ['a package.json', ['package.json'], 'node'],
  ['an index.js alone', ['index.js'], 'node'],
  ['a bot.py alone', ['bot.py'], 'python'],
  ['a bot.py with pyproject.toml', ['bot.py', 'pyproject.toml'], 'python'],
  [
    'a bot.py with requirements.txt and a deploy.toml of Pipecat',
    ['bot.py', 'requirements.txt', 'pcc-deploy.toml'],
    'python',
  ],
  ['a package.json without "main" beside a bot.py', ['package.json', 'bot.py'], 'python'],
  ['a package.json beside requirements of Python, but no bot', ['package.json', 'requirements.txt'], 'node'],
])('detectProjectKind detects whether a project with %s is a Node or a Python project', async (_, files, kind) => {
  const directory = await writeProject(Object.fromEntries(files.map((name) => [name, '{}'])));
  const found = detectProjectKind(directory);
  expect(found.kind).toBe(kind);
  expect(found.because).toContain(kind === 'node' ? 'Node' : 'Python');
});

it('detectProjectKind detects a Node project if package.json has "main", and reports that bot.py is ignored', async () => {
  const directory = await writeProject({ 'package.json': '{"main":"a.js"}', 'bot.py': '' });
  expect(detectProjectKind(directory)).toEqual({
    kind: 'node',
    because: 'a Node project: it has a package.json; bot.py is ignored',
  });
});

it.each([
  ['no package.json and no bot.py', { 'README.md': '' }, /neither a package\.json \(Node\) nor a bot\.py .*Add one/],
  ['a pyproject.toml but no bot.py', { 'pyproject.toml': '' }, /has pyproject\.toml, but no bot\.py/],
])('detectProjectKind rejects a project with %s and lists the expected files', async (_, files, sentence) => {
  const directory = await writeProject(files);
  expect(() => detectProjectKind(directory)).toThrow(sentence);
  expect(() => detectProjectKind(directory)).toThrow(ProjectPreparationError);
});
