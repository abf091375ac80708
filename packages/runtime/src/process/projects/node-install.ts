import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PrepareError } from '../../runtime.ts';
import type { BuildCommand } from './builder.ts';
import type { NodeManifest } from './node-project.ts';
import { readProjectFile } from './project-file.ts';

/** Each with its lock, the first that is there counts. Yarn 1 and later ones share the name of theirs. */
const locks = {
  'npm-shrinkwrap.json': 'npm',
  'package-lock.json': 'npm',
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
} as const;
type Tool = (typeof locks)[keyof typeof locks];

/** What a Node project needs before it can start. `install`: null when nothing is to be installed. */
export type NodePlan = {
  readonly tool: Tool;
  readonly install: 'locked' | 'unlocked' | null;
  /** Whether its build script is run, for which it gets its development dependencies too. */
  readonly builds: boolean;
  readonly notes: readonly string[];
};

/**
 * Decides it. A directory that the operator serves is taken as it is where it can be: its `node_modules` are used, and what
 * was built there is not built again; an archive leaves both behind.
 */
export function planNode(
  directory: string,
  isServedDirectory: boolean,
  manifest: NodeManifest,
  hasMain: boolean,
): NodePlan {
  const [lock, tool] = Object.entries(locks).find(([name]) => existsSync(join(directory, name))) ?? [
    null,
    'npm' as const,
  ];
  const builds = manifest.scripts['build'] !== undefined && !(isServedDirectory && hasMain);
  const isInstalled = isServedDirectory && existsSync(join(directory, 'node_modules'));
  const { dependencies, optionalDependencies, peerDependencies, devDependencies } = manifest;
  const wanted = { ...dependencies, ...optionalDependencies, ...peerDependencies, ...(builds ? devDependencies : {}) };
  if (isInstalled || Object.keys(wanted).length === 0) {
    const notes = isInstalled ? ['node_modules came with the directory and is used as it is'] : [];
    return { tool, install: null, builds, notes };
  }
  if (lock !== null) return { tool, install: 'locked', builds, notes: [`${lock} says the versions`] };
  const warning = 'warning: no package-lock.json: npm chooses the versions anew each time something changes';
  return { tool, install: 'unlocked', builds, notes: [warning] };
}

/** The commands of a plan, in their order. `programs`: the path of each tool that was found. Throws `PrepareError`. */
export function nodeCommands(
  directory: string,
  plan: NodePlan,
  manifest: NodeManifest,
  programs: Readonly<Partial<Record<Tool, string>>>,
): readonly BuildCommand[] {
  if (plan.install === null && !plan.builds) return [];
  const program = programs[plan.tool];
  if (program === undefined) {
    const why = plan.tool === 'npm' ? '' : ` The project's lock is one of ${plan.tool}.`;
    throw new PrepareError(
      `The project needs ${plan.tool}, which bots' accounts cannot run here.${why} Install ${plan.tool} beside node, or where every account can reach it.`,
    );
  }
  const run = (...words: readonly string[]): BuildCommand => ({
    title: [plan.tool, ...words].join(' '),
    command: [program, ...words],
    directory,
    variables: {},
  });
  const prunes = plan.install !== null && plan.builds && Object.keys(manifest.devDependencies).length > 0;
  const isClassicYarn = plan.tool === 'yarn' && isClassicLock(directory);
  return [
    ...(plan.install === null ? [] : [run(...installWords(plan, isClassicYarn))]),
    ...(plan.builds ? [run('run', 'build')] : []),
    ...(prunes ? pruneWords(plan, isClassicYarn).map((words) => run(...words)) : []),
  ];
}

function installWords({ tool, install, builds }: NodePlan, isClassicYarn: boolean): readonly string[] {
  if (tool === 'pnpm') {
    // Files of the store must not be those of the project, which change hands.
    const words = ['install', '--frozen-lockfile', '--package-import-method=copy'];
    return builds ? words : [...words, '--prod'];
  }
  if (tool === 'yarn') {
    return isClassicYarn
      ? ['install', '--frozen-lockfile', '--non-interactive', ...(builds ? [] : ['--production'])]
      : ['install', '--immutable'];
  }
  const words = install === 'locked' ? ['ci'] : ['install', '--no-package-lock'];
  return [...words, builds ? '--include=dev' : '--omit=dev'];
}

/** Takes the development dependencies away after the build. A later Yarn has no word for it that every version knows. */
function pruneWords({ tool, install }: NodePlan, isClassicYarn: boolean): readonly (readonly string[])[] {
  if (tool === 'pnpm') return [['prune', '--prod']];
  if (tool === 'yarn') {
    return isClassicYarn
      ? [['install', '--frozen-lockfile', '--non-interactive', '--production', '--ignore-scripts']]
      : [];
  }
  return [['prune', '--omit=dev', ...(install === 'locked' ? [] : ['--no-package-lock'])]];
}

function isClassicLock(directory: string): boolean {
  return readProjectFile(directory, 'yarn.lock').includes('# yarn lockfile v1');
}
