import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeProject } from '../../../test/process/test-project.ts';
import { findPython } from './python-interpreter.ts';

/** Folders with interpreters that only know their version. */
async function installed(versions: Readonly<Record<string, string>>): Promise<string> {
  const directory = await writeProject({});
  await mkdir(join(directory, 'bin'));
  for (const [name, version] of Object.entries(versions)) {
    const path = join(directory, 'bin', name);
    await writeFile(path, `#!/bin/sh\necho ${version}\necho ${path}\n`);
    await chmod(path, 0o755);
  }
  return join(directory, 'bin');
}

const asks = (range: string) => [{ who: 'pyproject.toml asks', range }];

describe('the interpreter for a project', () => {
  it.each([
    ['python3 where it fits', '>=3.10', 'python3'],
    ['the newest that fits, where python3 does not', '>=3.12', 'python3.14'],
    ['an older one where the range ends before', '~=3.12.0', 'python3.12'],
    ['python3 where nothing is asked', '', 'python3'],
    ['one that is not excluded', '>=3.11,!=3.11.*,!=3.14.*', 'python3.12'],
  ])('is %s', async (_, range, name) => {
    const path = await installed({
      python3: '3.11.2',
      'python3.11': '3.11.2',
      'python3.12': '3.12.9',
      'python3.14': '3.14.0',
    });
    expect(await findPython(asks(range), path, null)).toMatchObject({ path: join(path, name) });
  });

  it('is asked of all who say something', async () => {
    const path = await installed({ python3: '3.11.2', 'python3.12': '3.12.9' });
    const both = [...asks('<3.13'), { who: 'the host shim asks', range: '>=3.12' }];
    expect(await findPython(both, path, null)).toEqual({ path: join(path, 'python3.12'), version: '3.12.9' });
  });

  it.each([
    [
      'does not fit',
      { python3: '3.9.1' },
      '>=3.11',
      /pyproject\.toml asks for Python >=3\.11\. Here is 3\.9\.1 \(.*python3\): install one/,
    ],
    ['is not there', {}, '>=3.11', /No Python that bots can run is in PATH/],
    ['is no range', { python3: '3.11.2' }, 'newest', /asks for Python "newest", which is not a range/],
  ])('that %s is refused with what was found', async (_, versions, range, sentence) => {
    await expect(findPython(asks(range), await installed(versions), null)).rejects.toThrow(sentence);
  });
});
