import { satisfies, validRange } from '@renovatebot/pep440';
import { PrepareError } from '../../runtime.ts';
import { programsNamed, type TryAccount, tryProgram } from './interpreter.ts';

/** An interpreter by its own path, not that of a shim in front of it; the version has three parts. */
export type Python = { readonly path: string; readonly version: string };

/** A range of versions (PEP 440) and who asks for it, as the beginning of a sentence. */
export type PythonRequirement = { readonly who: string; readonly range: string };

const NEWEST_MINOR = 20;
const OLDEST_MINOR = 8;
const minors = Array.from({ length: NEWEST_MINOR - OLDEST_MINOR + 1 }, (_, index) => `python3.${NEWEST_MINOR - index}`);
/** Its own file, as `python3` may be another one tomorrow. */
const ABOUT = `import os, sys
print('%d.%d.%d' % sys.version_info[:3])
print(os.path.realpath(getattr(sys, '_base_executable', None) or sys.executable))`;

/**
 * The interpreter for a project: `python3` when it fits, else the newest `python3.N` in `path` that does and that the
 * account can run. Rejects with `PrepareError`, which says what was found.
 */
export async function findPython(
  requirements: readonly PythonRequirement[],
  path: string,
  account: TryAccount,
): Promise<Python> {
  for (const { who, range } of requirements) {
    if (range !== '' && !validRange(range))
      throw new PrepareError(`${who} for Python "${range}", which is not a range.`);
  }
  const found = new Map<string, Python>();
  for (const candidate of programsNamed(['python3', ...minors, 'python'], path)) {
    const [version, executable] = (await tryProgram(candidate, ['-I', '-c', ABOUT], account))?.split('\n') ?? [];
    if (version === undefined || executable === undefined) continue;
    if (requirements.every(({ range }) => fits(version, range))) return { path: executable, version };
    found.set(executable, { path: executable, version });
  }
  const asked = requirements.map(({ who, range }) => `${who} for Python ${range}`).join(', ');
  const there = [...found.values()].map((python) => `${python.version} (${python.path})`).join(', ');
  throw new PrepareError(
    `${asked}. ${there === '' ? 'No Python that bots can run is in PATH' : `Here is ${there}`}: install one that fits where every account can run it, or change requires-python in pyproject.toml.`,
  );
}

function fits(version: string, range: string): boolean {
  return range === '' || satisfies(version, range, { prereleases: true });
}
