import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { getObjectFields } from '@bothost/contract/json-object';
import { parse } from 'smol-toml';
import { findPackageNameProblem } from '../configuration/package-names.ts';
import { createProjectPlan } from '../configuration/plan.ts';
import { compareGuidesWithGeneratedTexts, type GuideComparison } from '../guides/generated-guides.ts';
import { hasConflictMarkers } from '../merging/markers.ts';
import { listRequiredEnvironmentVariables } from '../project/variables.ts';
import { isOlderVersion } from '../version-order.ts';
import { readInterruptedChange } from '../writing/apply-edits.ts';
import { isProjectLocked } from '../writing/project-lock.ts';
import { hashText } from '../writing/project-record.ts';
import { readRegularFileText, readTextIfExists } from '../writing/survey.ts';
import type { ProjectRecord } from './read-project-record.ts';
import { findLockMismatch } from './uv-lock.ts';

/**
 * The result of one check of a project: `good`, `problem` (the project does not work), `edited` (the file differs from its
 * generated text), or `outdated` (an older version generated the file).
 */
export type Finding = {
  readonly about: string;
  readonly state: 'good' | 'edited' | 'outdated' | 'problem';
  readonly message: string;
};

/**
 * Checks a project against its stored configuration. Also compares its guides, such as `AGENTS.md`, with the texts that botcli
 * `version` generates. Findings never contain values of environment variables.
 */
export async function checkProject(
  directory: string,
  answers: ProjectRecord,
  version: string,
): Promise<readonly Finding[]> {
  const deployed = answers.configuration.deploy_to_cloud;
  return [
    ...changeFindings(directory),
    ...markerFindings(directory, answers),
    ...variableFindings(directory, answers),
    ...nameFindings(directory),
    ...packageFindings(directory, answers),
    ...lockFindings(directory),
    ...(deployed ? await deployFindings(directory) : []),
    ...fileFindings(directory, answers, version),
  ];
}

function changeFindings(directory: string): readonly Finding[] {
  if (readInterruptedChange(directory) === null) return [];
  if (isProjectLocked(directory))
    return [{ about: 'generated files', state: 'problem', message: 'another botcli process is changing the files' }];
  const message = 'an interrupted change left some files unchanged: finish it with botcli project update';
  return [{ about: 'generated files', state: 'problem', message }];
}

function variableFindings(directory: string, answers: ProjectRecord): readonly Finding[] {
  const about = 'server/.env';
  const required = listRequiredEnvironmentVariables(createProjectPlan(answers.configuration));
  if (required.length === 0) return [];
  const text = readTextIfExists(join(directory, about));
  if (text === null) {
    return [
      { about, state: 'problem', message: 'the file does not exist: copy .env.example to .env and fill in the keys' },
    ];
  }
  const filled = parseEnv(text);
  const empty = required.filter((name) => (filled[name] ?? '').trim() === '');
  if (empty.length === 0)
    return [{ about, state: 'good', message: `all ${required.length} required variables are set` }];
  return empty.map((name) => ({ about, state: 'problem', message: `${name} is empty or missing` }));
}

function nameFindings(directory: string): readonly Finding[] {
  const about = 'server/pyproject.toml';
  const { name } = projectOf(readTextIfExists(join(directory, about)) ?? '');
  const problem = typeof name === 'string' ? findPackageNameProblem(name) : null;
  return problem === null ? [] : [{ about, state: 'problem', message: `its name ${problem}: choose another name` }];
}

function packageFindings(directory: string, answers: ProjectRecord): readonly Finding[] {
  const about = 'server/pyproject.toml';
  const text = readTextIfExists(join(directory, about));
  if (text === null) return [{ about, state: 'problem', message: 'the file does not exist' }];
  const { extras, lowest } = createProjectPlan(answers.configuration);
  const dependency = dependenciesOf(text).find((one) => /^pipecat-ai\b(?!-)/.test(one));
  if (dependency === undefined)
    return [{ about, state: 'problem', message: 'the dependencies do not include pipecat-ai' }];
  const named = new Set(/\[([^\]]*)\]/.exec(dependency)?.[1]?.split(/\s*,\s*/) ?? []);
  const missing = extras.filter((extra) => !named.has(extra));
  if (missing.length > 0) {
    return [{ about, state: 'problem', message: `the pipecat-ai dependency lacks the extras ${missing.join(', ')}` }];
  }
  const lower = />=\s*(\d+(?:\.\d+)*)/.exec(dependency)?.[1];
  if (lower !== undefined && isOlderVersion(lower, lowest.library)) {
    return [
      {
        about,
        state: 'problem',
        message: `the dependencies allow pipecat-ai ${lower}, but the project needs at least ${lowest.library}`,
      },
    ];
  }
  if (!/<\s*2\b/.test(dependency)) {
    return [
      {
        about,
        state: 'problem',
        message: 'the dependencies allow pipecat-ai 2, but the generated code is written for pipecat-ai 1',
      },
    ];
  }
  const python = />=\s*(\d+(?:\.\d+)*)/.exec(pythonOf(text))?.[1];
  if (python !== undefined && isOlderVersion(python, lowest.python)) {
    return [
      {
        about,
        state: 'problem',
        message: `requires-python allows Python ${python}, but the project needs at least ${lowest.python}`,
      },
    ];
  }
  return [
    { about, state: 'good', message: 'the pipecat-ai extras and the version bounds match the project configuration' },
  ];
}

/** The lock file is optional. Without one, the latest matching packages are installed. */
function lockFindings(directory: string): readonly Finding[] {
  const about = 'server/uv.lock';
  const [lock, text] = [
    readTextIfExists(join(directory, about)),
    readTextIfExists(join(directory, 'server/pyproject.toml')),
  ];
  if (lock === null || text === null) return [];
  const mismatch = findLockMismatch(lock, dependenciesOf(text));
  return [
    mismatch === null
      ? { about, state: 'good', message: 'the lock file matches the dependencies' }
      : { about, state: 'problem', message: mismatch },
  ];
}

function dependenciesOf(text: string): readonly string[] {
  const { dependencies } = projectOf(text);
  return Array.isArray(dependencies) ? dependencies.map(String) : [];
}

function pythonOf(text: string): string {
  return String(projectOf(text)['requires-python'] ?? '');
}

function projectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const { project } = parse(text);
    return getObjectFields(project);
  } catch {
    return {};
  }
}

async function deployFindings(directory: string): Promise<readonly Finding[]> {
  const about = 'server/deploy.toml';
  const text = readTextIfExists(join(directory, about));
  if (text === null) return [{ about, state: 'problem', message: 'the file does not exist' }];
  const { checkDeployFile } = await import('@bothost/contract');
  try {
    const { issues } = checkDeployFile(parse(text));
    if (issues.length === 0) return [{ about, state: 'good', message: 'the deploy file is valid' }];
    return issues.map(({ path, message }) => ({
      about,
      state: 'problem',
      message: path === '' ? message : `${path}: ${message}`,
    }));
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    return [{ about, state: 'problem', message: `the file is not valid TOML: ${line}` }];
  }
}

function markerFindings(directory: string, answers: ProjectRecord): readonly Finding[] {
  return Object.keys(answers.files)
    .filter((path) => hasConflictMarkers(readTextIfExists(join(directory, path)) ?? ''))
    .map((about) => ({ about, state: 'problem', message: 'the file has unresolved conflicts' }));
}

function fileFindings(directory: string, answers: ProjectRecord, version: string): readonly Finding[] {
  const entries = Object.entries(answers.files);
  const changed = entries.flatMap(([about, hash]): Finding[] => {
    const text = readTextIfExists(join(directory, about));
    if (text === null) return [{ about, state: 'edited', message: 'the file was removed' }];
    return `sha256:${hashText(text)}` === hash ? [] : [{ about, state: 'edited', message: 'the file was edited' }];
  });
  const guides = compareGuidesWithGeneratedTexts(version, answers.guides, (path) =>
    readRegularFileText(directory, path),
  );
  const found = [...changed, ...guides.flatMap((guide) => guideFinding(guide) ?? [])];
  const all = entries.length + guides.length;
  const unedited = all - found.filter(({ state }) => state === 'edited').length;
  return [
    ...found.sort((one, other) => (one.about < other.about ? -1 : 1)),
    { about: 'generated files', state: 'good', message: `${unedited} of ${all} files were not edited` },
  ];
}

function guideFinding({ guide: { path: about }, state, writtenBy }: GuideComparison): Finding | null {
  if (state === 'unchanged') return null;
  if (state === 'removed') return { about, state: 'edited', message: 'the file was removed' };
  const older = writtenBy === null ? 'an older version' : `version ${writtenBy}`;
  if (state === 'outdated')
    return { about, state, message: `the guide was written by ${older}; botcli project update replaces it` };
  const message =
    writtenBy === null
      ? 'the guide was edited'
      : `the guide was written by ${older} and edited; botcli project update keeps it`;
  return { about, state, message };
}
