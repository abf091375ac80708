import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { writeProject } from '../../../test/process/test-project.ts';
import { findPython } from './python-interpreter.ts';

/** A directory with fake interpreters that print a version. */
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

const requires = (range: string) => [{ source: 'pyproject.toml', range }];

describe('findPython', () => {
  it.each([
    ['python3 if it matches', '>=3.10', 'python3'],
    ['the newest match if python3 does not match', '>=3.12', 'python3.14'],
    ['an older version if the range excludes newer ones', '~=3.12.0', 'python3.12'],
    ['python3 without a requirement', '', 'python3'],
    ['a version that is not excluded', '>=3.11,!=3.11.*,!=3.14.*', 'python3.12'],
  ])('chooses from several Python versions: %s', async (_, range, name) => {
    const path = await installed({
      python3: '3.11.2',
      'python3.11': '3.11.2',
      'python3.12': '3.12.9',
      'python3.14': '3.14.0',
    });
    expect(await findPython(requires(range), path, null)).toMatchObject({ path: join(path, name) });
  });

  it('chooses an interpreter that satisfies all requirements', async () => {
    const path = await installed({ python3: '3.11.2', 'python3.12': '3.12.9' });
    const both = [...requires('<3.13'), { source: 'the host shim', range: '>=3.12' }];
    expect(await findPython(both, path, null)).toEqual({ path: join(path, 'python3.12'), version: '3.12.9' });
  });

  it.each([
    [
      'no interpreter matches',
      { python3: '3.9.1' },
      '>=3.11',
      /pyproject\.toml requires Python >=3\.11, but .* only 3\.9\.1 \(.*python3\)\. Install/,
    ],
    ['there is no interpreter', {}, '>=3.11', /PATH contains no Python that bots can run/],
    ['the range is invalid', { python3: '3.11.2' }, 'newest', /requires Python "newest", which is not a version range/],
  ])('rejects with a message that names the cause: %s', async (_, versions, range, sentence) => {
    await expect(findPython(requires(range), await installed(versions), null)).rejects.toThrow(sentence);
  });
});
