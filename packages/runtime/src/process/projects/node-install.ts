import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ProjectPreparationError } from '../../runtime.ts';
import type { BuildCommand } from './builder.ts';
import type { NodeManifest } from './node-project.ts';
import { readManifestOrLockFile } from './project-file.ts';

/** Lock files and their package managers. The first lock file that exists determines the package manager. */
const locks = {
  'npm-shrinkwrap.json': 'npm',
  'package-lock.json': 'npm',
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
} as const;
type Tool = (typeof locks)[keyof typeof locks];

/** How to install and build a Node project. `install` is null if there is nothing to install. */
export type NodeInstallPlan = {
  readonly tool: Tool;
  readonly install: 'locked' | 'unlocked' | null;
  /** Whether to run the build script, which also requires development dependencies. */
  readonly builds: boolean;
  readonly notes: readonly string[];
};

/** Plans the build. In a served directory, existing `node_modules` and main file are used; an archive contains neither. */
export function planNodeInstall(
  directory: string,
  isServedDirectory: boolean,
  manifest: NodeManifest,
  hasMain: boolean,
): NodeInstallPlan {
  const [lock, tool] = Object.entries(locks).find(([name]) => existsSync(join(directory, name))) ?? [
    null,
    'npm' as const,
  ];
  const builds = manifest.scripts['build'] !== undefined && !(isServedDirectory && hasMain);
  const isInstalled = isServedDirectory && existsSync(join(directory, 'node_modules'));
  const { dependencies, optionalDependencies, peerDependencies, devDependencies } = manifest;
  const needed = { ...dependencies, ...optionalDependencies, ...peerDependencies, ...(builds ? devDependencies : {}) };
  const isWorkspaceRoot = manifest.workspaces !== undefined || existsSync(join(directory, 'pnpm-workspace.yaml'));
  const siblings = Object.entries(needed).filter(([, range]) => String(range).startsWith('workspace:'));
  if (siblings.length > 0 && !isWorkspaceRoot && !isInstalled) {
    throw new ProjectPreparationError(
      `package.json needs ${siblings.map(([name]) => name).join(', ')} from its workspace, which was not deployed. Set context_dir below [build] in deploy.toml to the root of the workspace, and "main" of the package.json there to the file of the bot.`,
    );
  }
  if (isInstalled || (Object.keys(needed).length === 0 && !isWorkspaceRoot)) {
    const notes = isInstalled ? ['using the node_modules of the directory'] : [];
    return { tool, install: null, builds, notes };
  }
  if (lock !== null) return { tool, install: 'locked', builds, notes: [`using the versions of ${lock}`] };
  const unread = ['bun.lock', 'bun.lockb'].filter((name) => existsSync(join(directory, name)));
  const notes = [
    ...unread.map(
      (name) => `warning: ${name} is not read. For locked versions, create package-lock.json (npm install)`,
    ),
    'warning: no package-lock.json: npm may choose other versions at each deployment',
  ];
  return { tool, install: 'unlocked', builds, notes };
}

/**
 * Returns the commands that install the dependencies of a project and build it, as `plan` says. `programs` maps package
 * managers to their paths. Throws `ProjectPreparationError` if the package manager of the plan is missing.
 */
export function createNodeCommands(
  directory: string,
  plan: NodeInstallPlan,
  manifest: NodeManifest,
  programs: Readonly<Partial<Record<Tool, string>>>,
): readonly BuildCommand[] {
  if (plan.install === null && !plan.builds) return [];
  const program = programs[plan.tool];
  if (program === undefined) {
    const lock = plan.tool === 'npm' ? '' : ` for its ${plan.tool === 'pnpm' ? 'pnpm-lock.yaml' : 'yarn.lock'}`;
    throw new ProjectPreparationError(
      `The project needs ${plan.tool}${lock}, which bots' accounts cannot run. Install ${plan.tool} next to node, or where every account can run it.`,
    );
  }
  const run = (...args: readonly string[]): BuildCommand => ({
    title: [plan.tool, ...args].join(' '),
    command: [program, ...args],
    directory,
    variables: {},
  });
  const prunes = plan.install !== null && plan.builds && Object.keys(manifest.devDependencies).length > 0;
  const isClassicYarn = plan.tool === 'yarn' && isClassicLock(directory);
  return [
    ...(plan.install === null ? [] : [run(...installArguments(plan, isClassicYarn))]),
    ...(plan.builds ? [run('run', 'build')] : []),
    ...(prunes ? pruneArguments(plan, isClassicYarn).map((args) => run(...args)) : []),
  ];
}

function installArguments({ tool, install, builds }: NodeInstallPlan, isClassicYarn: boolean): readonly string[] {
  if (tool === 'pnpm') {
    // Copy packages from the pnpm store instead of hard-linking them. The owner of the project's files changes after the build,
    // and with hard links, the owner of the files in the store would change too.
    const args = ['install', '--frozen-lockfile', '--package-import-method=copy'];
    return builds ? args : [...args, '--prod'];
  }
  if (tool === 'yarn') {
    return isClassicYarn
      ? ['install', '--frozen-lockfile', '--non-interactive', ...(builds ? [] : ['--production'])]
      : ['install', '--immutable'];
  }
  const args = install === 'locked' ? ['ci'] : ['install', '--no-package-lock'];
  return [...args, builds ? '--include=dev' : '--omit=dev'];
}

/** Returns the commands that remove development dependencies after the build. Yarn 2 and later cannot remove them. */
function pruneArguments({ tool, install }: NodeInstallPlan, isClassicYarn: boolean): readonly (readonly string[])[] {
  if (tool === 'pnpm') return [['prune', '--prod']];
  if (tool === 'yarn') {
    return isClassicYarn
      ? [['install', '--frozen-lockfile', '--non-interactive', '--production', '--ignore-scripts']]
      : [];
  }
  return [['prune', '--omit=dev', ...(install === 'locked' ? [] : ['--no-package-lock'])]];
}

function isClassicLock(directory: string): boolean {
  return readManifestOrLockFile(directory, 'yarn.lock').includes('# yarn lockfile v1');
}
