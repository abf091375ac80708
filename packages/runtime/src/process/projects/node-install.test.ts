import { describe, expect, it } from 'vitest';
import { writeProject } from '../../../test/process/test-project.ts';
import { nodeCommands, planNode } from './node-install.ts';
import { readManifest } from './node-project.ts';

const DEPENDENCIES = { dependencies: { ws: '8' } };
const DEVELOPMENT = { devDependencies: { vite: '8' } };
const BUILD = { scripts: { build: 'vite build' } };
const CLASSIC = '# yarn lockfile v1\n';

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
  const plan = planNode(directory, served, read, hasMain);
  const programs = { npm: '/bin/npm', pnpm: '/bin/pnpm', yarn: '/bin/yarn' };
  return { plan, titles: nodeCommands(directory, plan, read, programs).map(({ title }) => title), directory, read };
}

describe('a Node project', () => {
  it.each<[string, Case, readonly string[]]>([
    ['without dependencies runs nothing', { manifest: DEVELOPMENT }, []],
    [
      'with a lock is installed as it says',
      { manifest: DEPENDENCIES, files: ['package-lock.json'] },
      ['npm ci --omit=dev'],
    ],
    [
      'with a shrinkwrap too',
      { manifest: DEPENDENCIES, files: ['npm-shrinkwrap.json', 'yarn.lock'] },
      ['npm ci --omit=dev'],
    ],
    ['without a lock is installed anew', { manifest: DEPENDENCIES }, ['npm install --no-package-lock --omit=dev']],
    [
      'that builds gets its development dependencies for it',
      { manifest: { ...DEPENDENCIES, ...DEVELOPMENT, ...BUILD }, files: ['package-lock.json'] },
      ['npm ci --include=dev', 'npm run build', 'npm prune --omit=dev'],
    ],
    ['that builds with nothing installs nothing', { manifest: BUILD, hasMain: false }, ['npm run build']],
    [
      'with a lock of pnpm uses pnpm',
      { manifest: DEPENDENCIES, files: ['pnpm-lock.yaml'] },
      ['pnpm install --frozen-lockfile --package-import-method=copy --prod'],
    ],
    [
      'with a lock of Yarn 1 uses its words',
      { manifest: { ...DEPENDENCIES, ...DEVELOPMENT, ...BUILD }, yarnLock: CLASSIC },
      [
        'yarn install --frozen-lockfile --non-interactive',
        'yarn run build',
        'yarn install --frozen-lockfile --non-interactive --production --ignore-scripts',
      ],
    ],
    [
      'with a lock of a later Yarn uses those',
      { manifest: DEPENDENCIES, yarnLock: '__metadata:\n' },
      ['yarn install --immutable'],
    ],
    [
      'that is served with its node_modules runs nothing',
      { manifest: { ...DEPENDENCIES, ...BUILD }, files: ['node_modules/ws/index.js'], served: true },
      [],
    ],
    ['that is served built is not built again', { manifest: { ...BUILD, ...DEVELOPMENT }, served: true }, []],
    [
      'that is served and not built is built',
      { manifest: { ...BUILD, ...DEVELOPMENT }, served: true, hasMain: false },
      ['npm install --no-package-lock --include=dev', 'npm run build', 'npm prune --omit=dev --no-package-lock'],
    ],
  ])('%s', async (_, given, titles) => {
    expect((await commandsOf(given)).titles).toEqual(titles);
  });

  it('without a lock is warned', async () => {
    expect((await commandsOf({ manifest: DEPENDENCIES })).plan.notes).toEqual([
      expect.stringMatching(/^warning: no package-lock/),
    ]);
  });

  it.each([
    ['npm', 'package-lock.json', /needs npm, which bots' accounts cannot run here\. Install npm beside node/],
    ['pnpm', 'pnpm-lock.yaml', /needs pnpm, .*The project's lock is one of pnpm\. Install pnpm/],
  ])('that needs %s where there is none is told so', async (_, lock, sentence) => {
    const { plan, directory, read } = await commandsOf({ manifest: DEPENDENCIES, files: [lock] });
    expect(() => nodeCommands(directory, plan, read, {})).toThrow(sentence);
  });
});
