import { execFile } from 'node:child_process';
import { statfsSync } from 'node:fs';
import { chmod, chown, copyFile, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { runtimes } from '@bothost/runtime/registry';
import { openTreeRemover } from '@bothost/runtime/remove-tree';
import { pino } from 'pino';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  createFilesOutsideTree,
  createHostileDirectoryTrees,
  type HostileDirectoryTreeOutcomes,
  removeHostileDirectoryTrees,
  requireFilesOutsideTreeIntact,
  runHostileDirectoryTreeScenario,
  watchQuarantinedDirectoryTrees,
} from '../../../runtime/test/hostile-tree-scenario.ts';
import { type HostileDirectoryTree, hostileDirectoryTrees } from '../../../runtime/test/hostile-trees.ts';
import { createTestRuntimeOptions } from '../../../runtime/test/test-options.ts';
import { createBuildDirectories } from '../../src/builds/build-directories.ts';
import { createBuildLogNotifier } from '../../src/builds/build-log-notifier.ts';
import { createBuildWorker } from '../../src/builds/worker.ts';
import { purgeLogs } from '../../src/logs/retention.ts';
import { newId } from '../../src/store/uuid.ts';
import { createTestDatabaseRows, secondsAgo, testNow } from '../support/test-rows.ts';

const isRoot = process.geteuid?.() === 0;
const nobody = { uid: 65_534, gid: 65_534 };
const memory = '/dev/shm';
/** TMPFS_MAGIC from statfs(2). */
const lacksTmpfs = statfsSync(memory).type !== 0x0102_1994;

type Scenario = { readonly root: string; readonly names: readonly string[] };

const runHere = (scenario: Scenario) =>
  runHostileDirectoryTreeScenario({
    ...scenario,
    open: ({ dataDirectory, logger }) => runtimes.process.open(createTestRuntimeOptions(dataDirectory, logger)),
  });

const PROGRAM = `
import { runHostileDirectoryTreeScenario } from './hostile-tree-scenario.mjs';
import { runtimes } from './registry.mjs';
import { createTestRuntimeOptions } from './test-options.mjs';
const open = ({ dataDirectory, logger }) => runtimes.process.open(createTestRuntimeOptions(dataDirectory, logger));
console.log(JSON.stringify(await runHostileDirectoryTreeScenario({ open, ...JSON.parse(process.argv[2]) })));`;

async function runAsNobody(scenario: Scenario): Promise<HostileDirectoryTreeOutcomes> {
  // Bundle the program, because an ordinary user may not be able to read the files of this checkout.
  const source = (name: string) => fileURLToPath(new URL(`../../../runtime/${name}`, import.meta.url));
  await build({
    configFile: false,
    logLevel: 'silent',
    ssr: { noExternal: true },
    build: {
      ssr: true,
      outDir: scenario.root,
      emptyOutDir: false,
      rollupOptions: {
        input: [source('test/hostile-tree-scenario.ts'), source('src/registry.ts'), source('test/test-options.ts')],
        output: { entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' },
      },
    },
  });
  // Add the spawner's program to the bundle's directory. The bundler omits it, because the process driver does not import it
  // but runs it as a separate Node process.
  await copyFile(source('src/spawner-program.cjs'), join(scenario.root, 'spawner-program.cjs'));
  await writeFile(join(scenario.root, 'program.mjs'), PROGRAM);
  await chown(scenario.root, nobody.uid, nobody.gid);
  const parameters = ['program.mjs', JSON.stringify(scenario)];
  const options = { cwd: scenario.root, env: {}, ...nobody };
  const { stdout } = await promisify(execFile)(process.execPath, parameters, options);
  return JSON.parse(stdout);
}

const users = [
  ...(isRoot ? [{ user: 'root', ownAccounts: true, run: runHere }] : []),
  { user: 'an ordinary user', ownAccounts: false, run: isRoot ? runAsNobody : runHere },
];

/** Returns why the user or the machine cannot create this directory tree. Returns null if the tree can be created. */
function lacks({ needs, needsRoot }: HostileDirectoryTree, isUserRoot: boolean): string | null {
  if (needsRoot === true && !isUserRoot) return 'only root can make this tree';
  if (needs === 'tmpfs' && lacksTmpfs) return `${memory} is not a tmpfs`;
  return null;
}

async function makeRoot(parent: string): Promise<string> {
  const root = await mkdtemp(join(parent, 'bothost-hostile-'));
  await chmod(root, 0o711);
  return root;
}

describe.each(users)('a service that runs as $user', ({ ownAccounts, run }) => {
  const roots: string[] = [];
  const outcomes: Record<string, Readonly<Record<string, string>>> = {};

  beforeAll(async () => {
    // Create most directory trees in memory, because the tests create thousands of files.
    for (const parent of [tmpdir(), memory]) {
      const names = Object.entries(hostileDirectoryTrees)
        .filter(([, tree]) => lacks(tree, ownAccounts) === null)
        .filter(([, { needs }]) => (needs === 'disk' || lacksTmpfs ? tmpdir() : memory) === parent)
        .map(([name]) => name);
      if (names.length === 0) continue;
      const root = await makeRoot(parent);
      roots.push(root);
      Object.assign(outcomes, await run({ root, names }));
    }
  });
  afterAll(async () => {
    for (const root of roots) await removeHostileDirectoryTrees(root);
  });

  // Only root can create some of the trees. If the tests run as root, only the service that runs as root is tested with these
  // trees.
  const rows = Object.entries(hostileDirectoryTrees).filter(
    ([, { needsRoot }]) => needsRoot !== true || ownAccounts || !isRoot,
  );
  it.for(rows)('cleans up after a bot or build that leaves the directory tree "%s"', ([name, tree], { skip }) => {
    const reason = lacks(tree, ownAccounts);
    if (reason !== null) return skip(reason);
    const removal = expect.toBeOneOf(tree.outcome.split(' or '));
    const isRejected = ownAccounts && tree.buildError !== undefined;
    const ofBuild = {
      build: isRejected ? expect.stringMatching(tree.buildError) : 'prepared',
      project: 'removed',
      'home of the build': 'removed',
    };
    expect(outcomes[name]).toEqual({
      home: removal,
      account: 'released',
      output: 'kept',
      ...(tree.needsRoot === true ? {} : ofBuild),
      'home of a bot at start': removal,
      'output of a bot at start': removal,
      'home of a build at start': removal,
      'discarded project at start': removal,
      'environment at start': removal,
      'cache at start': removal,
    });
  });
});

it('at startup, the build worker removes hostile directory trees of interrupted builds; log retention removes hostile trees of expired logs', async () => {
  const root = await makeRoot(lacksTmpfs ? tmpdir() : memory);
  const rows = await createTestDatabaseRows();
  onTestFinished(async () => {
    await rows.close();
    await removeHostileDirectoryTrees(root);
  });
  const quarantineDirectory = join(root, 'quarantine');
  const { logger, describeRemoval, settle } = watchQuarantinedDirectoryTrees(quarantineDirectory);
  const removeTree = openTreeRemover({ quarantineDirectory, logger });
  const directories = await createBuildDirectories(root, removeTree);
  const outside = createFilesOutsideTree(root);
  const names = Object.keys(hostileDirectoryTrees).filter((name) => {
    const tree = hostileDirectoryTrees[name];
    return tree !== undefined && (tree.needs !== 'disk' || lacksTmpfs) && lacks(tree, isRoot) === null;
  });
  const agentId = await rows.agent(await rows.organization());
  const of = { agent_id: agentId, deployment_id: await rows.deployment(agentId), host_id: await rows.host() };
  const logsDirectory = join(root, 'logs');
  const logs = new Map(names.map((name) => [name, newId()]));
  const logOf = (name: string) => join(logsDirectory, agentId, logs.get(name) ?? '');
  for (const instance_id of logs.values()) {
    const times = { begins_at: secondsAgo(172_800), ends_at: secondsAgo(172_800), stored_at: secondsAgo(172_800) };
    const row = { instance_id, ...of, session_id: newId(), bytes: 10, dropped_bytes: 0, ...times };
    await rows.db.insertInto('instance_logs').values(row).execute();
  }
  await createHostileDirectoryTrees(names, (name) => join(directories.tree(name), 'project'), { outside });
  await createHostileDirectoryTrees(names, (name) => join(logOf(name), 'tree'), { outside });

  const worker = createBuildWorker({
    db: rows.db,
    now: () => new Date(),
    buildLogs: createBuildLogNotifier(),
    runtime: { prepare: () => expect.fail('nothing is to be built') },
    directories,
    disk: { require: () => undefined },
    timeoutSeconds: 60,
    logger: pino({ level: 'silent' }),
    host: { region: 'us-west' },
    retryWrite: (write) => write(),
    holdsRegion: () => true,
    isDraining: () => false,
    buildsAtOnce: 1,
    onEnded: () => undefined,
  });
  await worker.start();
  await worker.close();
  const retention = { db: rows.db, now: () => testNow, host: { id: of.host_id }, logsDirectory, removeTree };
  expect(await purgeLogs(retention, { days: 1, totalBytes: 2 ** 50 })).toBe(names.length);

  await settle();
  expect(await directories.treeIds()).toEqual([]);
  expect(await readdir(join(logsDirectory, agentId))).toEqual([]);
  for (const name of names) {
    const expected = hostileDirectoryTrees[name]?.outcome.split(' or ');
    expect(expected).toContain(describeRemoval(directories.tree(name)));
    expect(expected).toContain(describeRemoval(logOf(name)));
  }
  requireFilesOutsideTreeIntact(outside);
});
