import { mkdir, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeProject } from '../../../test/process/test-project.ts';
import { ProjectPreparationError } from '../../runtime.ts';
import { findMainFile, readManifest } from './node-project.ts';
import { readManifestOrLockFile } from './project-file.ts';
import { readPythonProject } from './python-project.ts';

describe('reading a project file', () => {
  it.each([
    ['package.json', readManifest],
    ['pyproject.toml', (directory: string) => readPythonProject(directory)],
    ['requirements.txt', (directory: string) => readPythonProject(directory)],
    ['yarn.lock', (directory: string) => readManifestOrLockFile(directory, 'yarn.lock')],
  ])('rejects the file %s above its size limit', async (name, read) => {
    const directory = await writeProject({ [name]: '' });
    await truncate(join(directory, name), 4 * 1_048_576 + 1);
    expect(() => read(directory)).toThrow(new ProjectPreparationError(`${name} of the project is larger than 4 MiB.`));
  });

  it('reads package.json, pyproject.toml and requirements files with a byte-order mark', async () => {
    const mark = '\u{feff}';
    const node = await writeProject({ 'package.json': `${mark}{"main": "bot.js"}` });
    expect(readManifest(node)).toMatchObject({ main: 'bot.js' });
    const [pyproject, marked] = await Promise.all(
      ['', mark].map((start) =>
        writeProject({ 'pyproject.toml': `${start}[project]\nname = "a"\nversion = "1"\ndependencies = ["b"]\n` }),
      ),
    );
    expect(readPythonProject(marked ?? '')).toEqual(readPythonProject(pyproject ?? ''));
    const requirements = await writeProject({ 'requirements.txt': `${mark}-r more.txt\n`, 'more.txt': `${mark}b\n` });
    expect(readPythonProject(requirements).files).toContain('more.txt');
  });

  it('rejects a package.json that is a directory', async () => {
    const directory = await writeProject({});
    await mkdir(join(directory, 'package.json'));
    expect(() => readManifest(directory)).toThrow('package.json of the project is not a file.');
  });

  it.each([
    ['contains NUL', 'a\0b'],
    ['is too long', 'a'.repeat(5_000)],
  ])('treats a file as missing if the file name %s', async (_, name) => {
    const directory = await writeProject({ 'requirements.txt': `-r ${name}\nb\n` });
    expect(findMainFile(directory, { main: name })).toBeNull();
    expect(readPythonProject(directory).files).toEqual(['requirements.txt']);
  });

  it('rejects a requirements.txt that includes too many files', async () => {
    const chain = Array.from({ length: 60 }, (_, index) => [`r${index}.txt`, `-r r${index + 1}.txt\n`]);
    const directory = await writeProject({ ...Object.fromEntries(chain), 'requirements.txt': '-r r0.txt\n' });
    expect(() => readPythonProject(directory)).toThrow('requirements.txt includes more than 50 files.');
  });
});
