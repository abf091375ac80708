import { satisfies, validRange } from '@renovatebot/pep440';
import { ProjectPreparationError } from '../../runtime.ts';
import { findProgramsInPath, runProgramAsAccount, type UnixAccount } from './interpreter.ts';

/**
 * `path` is the real path of the interpreter, not that of a version manager's wrapper. `version` has three parts, such as 3.12.4.
 */
export type PythonInterpreter = { readonly path: string; readonly version: string };

/** A version range (PEP 440) and the file that it comes from. */
export type PythonVersionRequirement = { readonly source: string; readonly range: string };

const newestMinor = 20;
const oldestMinor = 8;
const minors = Array.from({ length: newestMinor - oldestMinor + 1 }, (_, index) => `python3.${newestMinor - index}`);
/** Prints the interpreter's version and real path, because the link `python3` may lead to another version later. */
const about = `import os, sys
print('%d.%d.%d' % sys.version_info[:3])
print(os.path.realpath(getattr(sys, '_base_executable', None) or sys.executable))`;

/** A matching `python3`, else the newest `python3.N`. Rejects with a `ProjectPreparationError` that lists all interpreters. */
export async function findPython(
  requirements: readonly PythonVersionRequirement[],
  path: string,
  account: UnixAccount,
): Promise<PythonInterpreter> {
  for (const { source, range } of requirements) {
    if (range !== '' && !validRange(range))
      throw new ProjectPreparationError(`${source} requires Python "${range}", which is not a version range.`);
  }
  const found = new Map<string, PythonInterpreter>();
  for (const candidate of findProgramsInPath(['python3', ...minors, 'python'], path)) {
    const [version, executable] =
      (await runProgramAsAccount(candidate, ['-I', '-c', about], account))?.split('\n') ?? [];
    if (version === undefined || executable === undefined) continue;
    if (requirements.every(({ range }) => fits(version, range))) return { path: executable, version };
    found.set(executable, { path: executable, version });
  }
  const required = requirements.map(({ source, range }) => `${source} requires Python ${range}`).join(' and ');
  const present = [...found.values()].map((python) => `${python.version} (${python.path})`).join(', ');
  throw new ProjectPreparationError(
    `${required}, but ${present === '' ? 'PATH contains no Python that bots can run' : `this machine has only ${present}`}. Install a matching version where every account can run it, or change requires-python in pyproject.toml.`,
  );
}

function fits(version: string, range: string): boolean {
  return range === '' || satisfies(version, range, { prereleases: true });
}
