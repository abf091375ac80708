import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { parse } from 'smol-toml';
import { planOf } from '../configuration/plan.ts';
import { type GeneratedGuide, generatedGuides } from '../guides/generated-guides.ts';
import { hasMarkers } from '../merging/markers.ts';
import { requiredVariables } from '../project/variables.ts';
import { isOlder } from '../version-order.ts';
import { hashOf } from '../writing/answers.ts';
import { interruptedChange } from '../writing/apply-edits.ts';
import { isLocked } from '../writing/project-lock.ts';
import { fileText, textOf } from '../writing/survey.ts';
import type { Answers } from './read-answers.ts';
import { lockMismatch } from './uv-lock.ts';

/**
 * The result of one check. `problem`: the project does not work. `edited`: the file differs from what was generated. `outdated`:
 * an older version generated the file.
 */
export type Finding = {
  readonly about: string;
  readonly state: 'good' | 'edited' | 'outdated' | 'problem';
  readonly message: string;
};

/** Checks a project against its stored configuration, and its guides against those of `version`. Never reports values of variables. */
export async function checkProject(directory: string, answers: Answers, version: string): Promise<readonly Finding[]> {
  const deployed = answers.configuration.deploy_to_cloud;
  return [
    ...changeFindings(directory),
    ...markerFindings(directory, answers),
    ...variableFindings(directory, answers),
    ...packageFindings(directory, answers),
    ...lockFindings(directory),
    ...(deployed ? await deployFindings(directory) : []),
    ...fileFindings(directory, answers, version),
  ];
}

function changeFindings(directory: string): readonly Finding[] {
  if (interruptedChange(directory) === null) return [];
  if (isLocked(directory))
    return [{ about: 'generated files', state: 'problem', message: 'are being changed by another botcli' }];
  const message = 'an interrupted change left some files unchanged: finish it with botcli project update';
  return [{ about: 'generated files', state: 'problem', message }];
}

function variableFindings(directory: string, answers: Answers): readonly Finding[] {
  const about = 'server/.env';
  const required = requiredVariables(planOf(answers.configuration));
  if (required.length === 0) return [];
  const text = textOf(join(directory, about));
  if (text === null) {
    return [{ about, state: 'problem', message: 'does not exist: copy .env.example and fill it in' }];
  }
  const filled = parseEnv(text);
  const empty = required.filter((name) => (filled[name] ?? '').trim() === '');
  if (empty.length === 0)
    return [{ about, state: 'good', message: `all ${required.length} required variables are set` }];
  return empty.map((name) => ({ about, state: 'problem', message: `${name} is empty or missing` }));
}

function packageFindings(directory: string, answers: Answers): readonly Finding[] {
  const about = 'server/pyproject.toml';
  const text = textOf(join(directory, about));
  if (text === null) return [{ about, state: 'problem', message: 'does not exist' }];
  const { extras, lowest } = planOf(answers.configuration);
  const dependency = dependenciesOf(text).find((one) => /^pipecat-ai\b(?!-)/.test(one));
  if (dependency === undefined) return [{ about, state: 'problem', message: 'does not depend on pipecat-ai' }];
  const named = new Set(/\[([^\]]*)\]/.exec(dependency)?.[1]?.split(/\s*,\s*/) ?? []);
  const missing = extras.filter((extra) => !named.has(extra));
  if (missing.length > 0) {
    return [{ about, state: 'problem', message: `pipecat-ai lacks the extras ${missing.join(', ')}` }];
  }
  const lower = />=\s*(\d+(?:\.\d+)*)/.exec(dependency)?.[1];
  if (lower !== undefined && isOlder(lower, lowest.library)) {
    return [
      { about, state: 'problem', message: `allows pipecat-ai ${lower}, but the project needs ${lowest.library}` },
    ];
  }
  if (!/<\s*2\b/.test(dependency)) {
    return [{ about, state: 'problem', message: 'allows pipecat-ai 2, but the generated code is written for 1' }];
  }
  const python = />=\s*(\d+(?:\.\d+)*)/.exec(pythonOf(text))?.[1];
  if (python !== undefined && isOlder(python, lowest.python)) {
    return [{ about, state: 'problem', message: `allows Python ${python}, but the project needs ${lowest.python}` }];
  }
  return [{ about, state: 'good', message: 'versions and extras match the project' }];
}

/** A lock file is optional. Without one, the latest packages that fit are installed. */
function lockFindings(directory: string): readonly Finding[] {
  const about = 'server/uv.lock';
  const [lock, text] = [textOf(join(directory, about)), textOf(join(directory, 'server/pyproject.toml'))];
  if (lock === null || text === null) return [];
  const mismatch = lockMismatch(lock, dependenciesOf(text));
  return [
    mismatch === null
      ? { about, state: 'good', message: 'matches the dependencies' }
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

function projectOf(text: string): { readonly dependencies?: unknown; readonly 'requires-python'?: unknown } {
  try {
    const { project } = parse(text);
    return typeof project === 'object' ? (project as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

async function deployFindings(directory: string): Promise<readonly Finding[]> {
  const about = 'server/deploy.toml';
  const text = textOf(join(directory, about));
  if (text === null) return [{ about, state: 'problem', message: 'does not exist' }];
  const { checkDeployFile } = await import('@bothost/contract');
  try {
    const { issues } = checkDeployFile(parse(text));
    if (issues.length === 0) return [{ about, state: 'good', message: 'can be deployed' }];
    return issues.map(({ path, message }) => ({
      about,
      state: 'problem',
      message: path === '' ? message : `${path}: ${message}`,
    }));
  } catch (error) {
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    return [{ about, state: 'problem', message: `is not valid TOML: ${line}` }];
  }
}

function markerFindings(directory: string, answers: Answers): readonly Finding[] {
  return Object.keys(answers.files)
    .filter((path) => hasMarkers(textOf(join(directory, path)) ?? ''))
    .map((about) => ({ about, state: 'problem', message: 'has unresolved conflicts' }));
}

function fileFindings(directory: string, answers: Answers, version: string): readonly Finding[] {
  const entries = Object.entries(answers.files);
  const changed = entries.flatMap(([about, hash]): Finding[] => {
    const text = textOf(join(directory, about));
    if (text === null) return [{ about, state: 'edited', message: 'was removed' }];
    return `sha256:${hashOf(text)}` === hash ? [] : [{ about, state: 'edited', message: 'was edited' }];
  });
  const guides = generatedGuides(version, answers.guides, (path) => fileText(directory, path));
  const found = [...changed, ...guides.flatMap((guide) => guideFinding(guide) ?? [])];
  const all = entries.length + guides.length;
  const unedited = all - found.filter(({ state }) => state === 'edited').length;
  return [
    ...found.sort((one, other) => (one.about < other.about ? -1 : 1)),
    { about: 'generated files', state: 'good', message: `${unedited} of ${all} are unedited` },
  ];
}

function guideFinding({ guide: { path: about }, state, writtenBy }: GeneratedGuide): Finding | null {
  if (state === 'unchanged') return null;
  if (state === 'removed') return { about, state: 'edited', message: 'was removed' };
  const older = writtenBy === null ? 'an older version' : `version ${writtenBy}`;
  if (state === 'outdated')
    return { about, state, message: `was written by ${older}: botcli project update replaces it` };
  const message =
    writtenBy === null ? 'was edited' : `was written by ${older} and edited: botcli project update keeps it`;
  return { about, state, message };
}
