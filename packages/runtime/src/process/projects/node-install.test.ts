import { describe, expect, it } from 'vitest';
import { writeProject } from '../../../test/process/test-project.ts';
import { createNodeCommands, planNodeInstall } from './node-install.ts';
import { readManifest } from './node-project.ts';

const withDependencies = { dependencies: { ws: '8' } };
const withDevDependencies = { devDependencies: { vite: '8' } };
const withBuildScript = { scripts: { build: 'vite build' } };
const classic = '# yarn lockfile v1\n';

type Case = {
  readonly manifest: object;
  readonly files?: readonly string[];
  readonly yarnLock?: string;
  readonly served?: boolean;
  readonly hasMain?: boolean;
};

async function commandsOf({ manifest, files = [], yarnLock, served = false, hasMain = true }: Case) {
  const directory = await writeProject({
    'package.json': JSON.stringify(manifest),
    ...Object.fromEntries(files.map((name) => [name, ''])),
    ...(yarnLock === undefined ? {} : { 'yarn.lock': yarnLock }),
  });
  const read = readManifest(directory);
  const plan = planNodeInstall(directory, served, read, hasMain);
  const programs = { npm: '/bin/npm', pnpm: '/bin/pnpm', yarn: '/bin/yarn' };
  return {
    plan,
    titles: createNodeCommands(directory, plan, read, programs).map(({ title }) => title),
    directory,
    read,
  };
}

describe('planNodeInstall and createNodeCommands', () => {
  it.each<[string, Case, readonly string[]]>([
    ['run nothing without dependencies', { manifest: withDevDependencies }, []],
    ['install from a lock file', { manifest: withDependencies, files: ['package-lock.json'] }, ['npm ci --omit=dev']],
    [
      'prefer npm-shrinkwrap.json',
      { manifest: withDependencies, files: ['npm-shrinkwrap.json', 'yarn.lock'] },
      ['npm ci --omit=dev'],
    ],
    ['install without a lock file', { manifest: withDependencies }, ['npm install --no-package-lock --omit=dev']],
    [
      'install development dependencies for a build and remove them afterwards',
      { manifest: { ...withDependencies, ...withDevDependencies, ...withBuildScript }, files: ['package-lock.json'] },
      ['npm ci --include=dev', 'npm run build', 'npm prune --omit=dev'],
    ],
    [
      'install nothing for a build without dependencies',
      { manifest: withBuildScript, hasMain: false },
      ['npm run build'],
    ],
    [
      'use pnpm for its lock file',
      { manifest: withDependencies, files: ['pnpm-lock.yaml'] },
      ['pnpm install --frozen-lockfile --package-import-method=copy --prod'],
    ],
    [
      'use the options of Yarn 1 for its lock file',
      { manifest: { ...withDependencies, ...withDevDependencies, ...withBuildScript }, yarnLock: classic },
      [
        'yarn install --frozen-lockfile --non-interactive',
        'yarn run build',
        'yarn install --frozen-lockfile --non-interactive --production --ignore-scripts',
      ],
    ],
    [
      'use the options of later versions of Yarn for their lock file',
      { manifest: withDependencies, yarnLock: '__metadata:\n' },
      ['yarn install --immutable'],
    ],
    [
      'run nothing for a served directory with node_modules',
      { manifest: { ...withDependencies, ...withBuildScript }, files: ['node_modules/ws/index.js'], served: true },
      [],
    ],
    [
      'do not build a served directory that has its main file',
      { manifest: { ...withBuildScript, ...withDevDependencies }, served: true },
      [],
    ],
    [
      'build a served directory that lacks its main file',
      { manifest: { ...withBuildScript, ...withDevDependencies }, served: true, hasMain: false },
      ['npm install --no-package-lock --include=dev', 'npm run build', 'npm prune --omit=dev --no-package-lock'],
    ],
  ])('%s', async (_, given, titles) => {
    expect((await commandsOf(given)).titles).toEqual(titles);
  });

  it.each<[string, Case]>([
    ['npm', { manifest: { workspaces: ['apps/*'] }, files: ['package-lock.json'] }],
    ['pnpm', { manifest: {}, files: ['pnpm-lock.yaml', 'pnpm-workspace.yaml'] }],
    ['yarn', { manifest: { workspaces: { packages: ['apps/*'] } }, yarnLock: classic }],
  ])('install the packages of a workspace of %s whose root has no dependencies', async (tool, given) => {
    expect((await commandsOf(given)).titles).toEqual([expect.stringMatching(`^${tool} (?:ci|install)`)]);
  });

  it('reject a package of a workspace that was deployed without the workspace, and say what to deploy', async () => {
    const manifest = { dependencies: { ws: '8', '@acme/lib': 'workspace:*' } };
    await expect(commandsOf({ manifest })).rejects.toThrow(
      /needs @acme\/lib from its workspace, .*Set context_dir below \(build\)/,
    );
    expect((await commandsOf({ manifest: { ...manifest, workspaces: ['lib'] } })).titles).toHaveLength(1);
  });

  it('warn about a missing lock file', async () => {
    expect((await commandsOf({ manifest: withDependencies })).plan.notes).toEqual([
      expect.stringMatching(/^warning: no package-lock/),
    ]);
  });

  it.each(['bun.lock', 'bun.lockb'])('warn that %s is not read, unless another lock file is', async (name) => {
    const { plan } = await commandsOf({ manifest: withDependencies, files: [name] });
    expect(plan.notes[0]).toContain(`warning: ${name} is not read`);
    const locked = await commandsOf({ manifest: withDependencies, files: [name, 'package-lock.json'] });
    expect(locked.plan.notes).toEqual(['using the versions of package-lock.json']);
  });

  it.each([
    ['npm', 'package-lock.json', /needs npm, which bots' accounts cannot run\. Install npm next to node/],
    ['pnpm', 'pnpm-lock.yaml', /needs pnpm for its pnpm-lock\.yaml, .*Install pnpm/],
  ])('reject a project that needs the program %s if it is not installed', async (_, lock, sentence) => {
    const { plan, directory, read } = await commandsOf({ manifest: withDependencies, files: [lock] });
    expect(() => createNodeCommands(directory, plan, read, {})).toThrow(sentence);
  });
});
