import { existsSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { parse } from 'smol-toml';
import { z } from 'zod';
import { ProjectPreparationError } from '../../runtime.ts';
import { isFileInProject, readManifestOrLockFile } from './project-file.ts';

export type PythonDependencies =
  /** `lockArguments` are arguments of uv with the package indexes and the settings with which the file was locked. */
  | { readonly kind: 'uv-lock'; readonly lockArguments: readonly string[] }
  | { readonly kind: 'requirements' }
  | { readonly kind: 'pyproject' }
  | { readonly kind: 'none' };

export type PythonProject = {
  readonly dependencies: PythonDependencies;
  /** Required Python version range. Empty if any version will do. */
  readonly requiresPython: string;
  /** The files, relative to the project, that determine what is installed. */
  readonly files: readonly string[];
  /** Whether files of the project may affect the environment, for example because a requirement is a path in it. */
  readonly isLocal: boolean;
  readonly notes: readonly string[];
};

const pyprojectSchema = z.looseObject({
  project: z
    .looseObject({
      'requires-python': z.string().default(''),
      dependencies: z.array(z.string()).default([]),
      'optional-dependencies': z.record(z.string(), z.array(z.string())).default({}),
      dynamic: z.array(z.string()).default([]),
    })
    .optional(),
  tool: z
    .looseObject({
      uv: z
        .looseObject({ sources: z.record(z.string(), z.unknown()).default({}), workspace: z.unknown().optional() })
        .optional(),
      poetry: z.looseObject({ dependencies: z.record(z.string(), z.unknown()).optional() }).optional(),
    })
    .default({}),
});
type Pyproject = z.infer<typeof pyprojectSchema>;

/** Reads a project's dependencies from uv.lock, else requirements.txt, else pyproject.toml. Throws `ProjectPreparationError`. */
export function readPythonProject(directory: string): PythonProject {
  const has = (name: string) => existsSync(join(directory, name));
  const pyproject = has('pyproject.toml') ? readPyproject(directory) : null;
  if (pyproject !== null) checkWorkspace(pyproject);
  const requiresPython = pyproject?.project?.['requires-python'] ?? '';
  const notes: string[] = [];
  if (pyproject !== null && has('uv.lock')) {
    const isLocal = namesLocalSources(pyproject) || hasDynamicDependencies(pyproject);
    const lock = readManifestOrLockFile(directory, 'uv.lock');
    const dependencies = { kind: 'uv-lock', lockArguments: listLockArguments(lock) } as const;
    return { dependencies, requiresPython, files: ['pyproject.toml', 'uv.lock'], isLocal, notes };
  }
  const unread = ['poetry.lock', 'pdm.lock', 'Pipfile.lock', 'pylock.toml'].filter(has);
  for (const name of unread) {
    notes.push(
      `warning: ${name} is not read. For locked versions, export it to requirements.txt or create uv.lock (uv lock)`,
    );
  }
  if (has('requirements.txt')) {
    const { files, lines } = readRequirements(directory, 'requirements.txt', new Set());
    // Add pyproject.toml to the files that determine what is installed, because uv reads settings from it.
    const all = pyproject === null ? files : [...files, 'pyproject.toml'];
    const isLocal = lines.some(isLocalRequirement) || (pyproject !== null && namesLocalSources(pyproject));
    return { dependencies: { kind: 'requirements' }, requiresPython, files: all, isLocal, notes };
  }
  if (pyproject?.project !== undefined) {
    // A dependency may name an extra of the project itself.
    const { dependencies, 'optional-dependencies': extras } = pyproject.project;
    const isLocal =
      hasDynamicDependencies(pyproject) ||
      [dependencies, ...Object.values(extras)].flat().some(isLocalRequirement) ||
      namesLocalSources(pyproject);
    return { dependencies: { kind: 'pyproject' }, requiresPython, files: ['pyproject.toml'], isLocal, notes };
  }
  if (pyproject?.tool.poetry?.dependencies !== undefined) {
    throw new ProjectPreparationError(
      'pyproject.toml declares its dependencies only for Poetry. Move them to project.dependencies, or export them to requirements.txt (poetry export).',
    );
  }
  notes.push('no requirements.txt and no dependencies in pyproject.toml: nothing is installed');
  return { dependencies: { kind: 'none' }, requiresPython, files: [], isLocal: false, notes };
}

function readPyproject(directory: string): Pyproject {
  const text = readManifestOrLockFile(directory, 'pyproject.toml');
  try {
    return pyprojectSchema.parse(parse(text));
  } catch (error) {
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : String(error);
    throw new ProjectPreparationError(`pyproject.toml is not valid: ${reason}`, { cause: error });
  }
}

const include = /^(?:-r|-c|--requirement|--constraint)[\s=]*(\S+)/;

const requirementFiles = 50;

/** Returns the paths of a requirements file and of the project's files that it includes. */
function readRequirements(
  directory: string,
  name: string,
  known: Set<string>,
): { readonly files: readonly string[]; readonly lines: readonly string[] } {
  const path = normalize(name);
  if (known.has(path) || path.startsWith('..') || !isFileInProject(directory, path)) return { files: [], lines: [] };
  if (known.size >= requirementFiles)
    throw new ProjectPreparationError(`requirements.txt includes more than ${requirementFiles} files.`);
  known.add(path);
  const text = readManifestOrLockFile(directory, path).replace(/\\\r?\n/g, ' ');
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const included = lines.flatMap((line) => {
    const target = include.exec(line)?.[1];
    return target === undefined ? [] : [readRequirements(directory, join(path, '..', target), known)];
  });
  return {
    files: [path, ...included.flatMap(({ files }) => files)],
    lines: [...lines, ...included.flatMap((other) => other.lines)],
  };
}

/** Whether a requirement is a path, an editable install or an archive instead of a package of an index. */
function isLocalRequirement(line: string): boolean {
  return (
    /^(?:\.|\/|-e\b|--editable\b|-f\b|--find-links\b)/.test(line) ||
    /(?:^|[\s@])file:/.test(line) ||
    (/\.(?:whl|tar\.gz|zip)(?:\s|$)/.test(line) && !/:\/\//.test(line))
  );
}

/** Throws `ProjectPreparationError` if the project is a member of a uv workspace that was not deployed. */
function checkWorkspace({ tool: { uv } }: Pyproject): void {
  if (uv === undefined || uv.workspace !== undefined) return;
  const siblings = Object.entries(uv.sources).filter(([, source]) => /"workspace":true/.test(JSON.stringify(source)));
  if (siblings.length === 0) return;
  throw new ProjectPreparationError(
    `pyproject.toml needs ${siblings.map(([name]) => name).join(', ')} from its uv workspace, which was not deployed. Set context_dir below [build] in deploy.toml to the root of the workspace, add a bot.py there that imports the bot, and list the bot's packages in the dependencies of the pyproject.toml there.`,
  );
}

function hasDynamicDependencies({ project }: Pyproject): boolean {
  return project?.dynamic.includes('dependencies') === true;
}

function namesLocalSources(pyproject: Pyproject): boolean {
  const { uv } = pyproject.tool;
  const text = JSON.stringify(uv?.sources ?? {});
  return uv?.workspace !== undefined || /"(?:path|workspace|editable)":/.test(text);
}

/** Settings that uv stores in a lock file, and its options for them. For a period, uv stores a time without meaning, too. */
const lockOptions = [
  ['exclude-newer-span', '--exclude-newer'],
  ['exclude-newer', '--exclude-newer'],
  ['resolution-mode', '--resolution'],
  ['prerelease-mode', '--prerelease'],
  ['fork-strategy', '--fork-strategy'],
] as const;

/** Arguments that keep a lock file current although it was locked with settings that this machine lacks. */
function listLockArguments(lock: string): readonly string[] {
  const registries = new Set([...lock.matchAll(/\bregistry = "(https?:[^"]+)"/g)].map(([, url = '']) => url));
  const [, options = ''] = /^\[options\]\n((?:.+\n)*)/m.exec(lock) ?? [];
  const settings = new Map<string, string>();
  for (const [key, option] of lockOptions) {
    const value = new RegExp(`^${key} = "([^"]+)"`, 'm').exec(options)?.[1];
    if (value !== undefined && !settings.has(option)) settings.set(option, value);
  }
  return [...[...registries].map((url) => ['--index', url]), ...settings].flat();
}
