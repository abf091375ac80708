import { type ChildProcess, execFile } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { systemUidReservationsDirectory } from '../src/process/containment/accounts.ts';
import { readUidReservationOwner } from '../src/process/containment/reservations.ts';
import type { PreparedProject, ProjectPreparer, Runtime, RuntimeLogger } from '../src/runtime.ts';
import {
  type FilesOutsideTree,
  type HostileDirectoryTree,
  hostileDirectoryTrees,
  outsideFiles,
} from './hostile-trees.ts';
import { createTestInstanceSpec } from './instance-spec.ts';

const isRoot = process.geteuid?.() === 0;
/** The account that owns the files that a killed server left behind. Null unless the tests run as root. */
const tenant = isRoot ? { uid: 61_184, gid: 61_184 } : null;
const limits = { cpuMillicores: 1000, memoryBytes: 512 * 1024 * 1024 };
const never = new AbortController().signal;
/** Maximum time for deleting a tree on a busy machine. */
const settleMs = 60_000;

/**
 * What the servers did with hostile directory trees. The outer key is the name of a tree. The inner key is what was checked,
 * such as the `home` of a bot or its `account`. The value is the outcome, such as `removed`, `quarantined` or an error message.
 */
export type HostileDirectoryTreeOutcomes = Readonly<Record<string, Readonly<Record<string, string>>>>;

export type ScenarioOptions = {
  readonly open: (options: { readonly dataDirectory: string; readonly logger: RuntimeLogger }) => Promise<Runtime>;
  /** An empty directory that every account can enter. */
  readonly root: string;
  readonly names: readonly string[];
};

/**
 * Code of a bot that changes to its home directory, runs the JavaScript code in its environment variable `MAKE`, and only then
 * becomes ready.
 */
const botCode = `
(async () => {
  process.chdir(process.env.HOME);
  await new (async () => undefined).constructor('fs', 'require', process.env.MAKE)(require('node:fs'), require);
  require('node:http').createServer((request, response) => response.end()).listen(process.env.PORT, process.env.BOT_HOST);
})();`;

/** Code that takes a JSON list of pairs of a directory and a program, and runs each program in its directory. */
const makeAll = `
(async () => {
  for (const [directory, program] of JSON.parse(process.argv[1])) {
    process.chdir(directory);
    await new (async () => undefined).constructor('fs', 'require', program)(require('node:fs'), require);
  }
})();`;

/** A build step that creates the tree in its project and in its home directory. */
const buildStep = (program: string) => `
const fs = require('node:fs');
const make = async () => { ${program} };
(async () => {
  for (const directory of [process.cwd() + '/tree', process.env.HOME + '/tree']) {
    fs.mkdirSync(directory);
    process.chdir(directory);
    await make();
  }
})();`;

/**
 * Creates each tree in the directories of bots and builds: first while a server runs, then as if a killed server had left it.
 * Returns what the servers did with the trees. Rejects if a server does not start, or if a file outside the trees is lost.
 */
export async function runHostileDirectoryTreeScenario({
  open,
  root,
  names,
}: ScenarioOptions): Promise<HostileDirectoryTreeOutcomes> {
  const dataDirectory = join(root, 'data');
  const outside = createFilesOutsideTree(root);
  const { logger, describeRemoval, settle } = watchQuarantinedDirectoryTrees(join(dataDirectory, 'quarantine'));
  const outcomes: Record<string, Record<string, string>> = Object.fromEntries(names.map((name) => [name, {}]));
  const note = (name: string, place: string, outcome: string) => {
    outcomes[name] = { ...outcomes[name], [place]: outcome };
  };
  const removals: { readonly name: string; readonly place: string; readonly path: string }[] = [];
  const noteRemovals = async () => {
    await settle();
    for (const { name, place, path } of removals.splice(0)) note(name, place, describeRemoval(path));
  };
  const attackers: ChildProcess[] = [];
  const attack = async (name: string, directory: string) => {
    const child = treeNamed(name).attack?.(directory, outside);
    if (child === undefined) return;
    attackers.push(child);
    if (child.stdout !== null) await once(child.stdout, 'data');
  };
  const endAttacks = () => {
    for (const child of attackers.splice(0)) child.kill('SIGKILL');
  };

  const runBot = async (runtime: Runtime, prepared: PreparedProject, name: string) => {
    const directory = join(dataDirectory, 'instances', name);
    const environment = async () => ({ MAKE: treeNamed(name).make });
    await runtime.start(
      createTestInstanceSpec({ instanceId: name, deploymentId: 'bot', prepared, limits, environment }),
      never,
    );
    const uid = accountOf(directory);
    treeNamed(name).add?.(join(directory, 'home'), outside);
    await attack(name, join(directory, 'home'));
    await runtime.stop(name, 0);
    await createHostileDirectoryTrees([name], () => join(directory, 'log/tree'));
    const output = join(root, 'logs', name);
    await runtime.outputs.release(name, output);
    note(name, 'output', existsSync(join(output, 'output')) ? 'kept' : 'lost');
    const failure = await runtime.forget(name).catch(String);
    if (failure === undefined) removals.push({ name, place: 'home', path: directory });
    else note(name, 'home', failure);
    const isReserved = uid !== null && readUidReservationOwner(systemUidReservationsDirectory, uid) === directory;
    note(name, 'account', isReserved ? 'still reserved' : 'released');
  };
  const runBuild = async (runtime: ProjectPreparer, name: string) => {
    const id = `build-${name}`;
    const path = writeProject(root, id, {
      'index.js': '',
      'package.json': '{ "scripts": { "build": "node build.js" } }',
      'build.js': buildStep(treeNamed(name).make),
    });
    const source = { kind: 'build', path, contentHash: id, organizationId: name } as const;
    const build = runtime.prepare({ id, source }, () => undefined, new AbortController().signal);
    const prepared = await build.catch(String);
    note(name, 'build', typeof prepared === 'string' ? prepared : 'prepared');
    const failure = typeof prepared === 'string' ? undefined : await runtime.discard(prepared).catch(String);
    if (failure === undefined) removals.push({ name, place: 'project', path: join(dataDirectory, 'projects', id) });
    else note(name, 'project', failure);
    const isBuilder = new RegExp(`^organization-${name}-[0-9a-f]{8}$`);
    const isLeft = readdirSync(join(dataDirectory, 'preparing')).some((entry) => isBuilder.test(entry));
    note(name, 'home of the build', isLeft ? 'still there' : 'removed');
  };

  try {
    const first = await open({ dataDirectory, logger });
    const path = writeProject(root, 'bot', { 'index.js': botCode });
    const source = { kind: 'directory', path, contentHash: '' } as const;
    const prepared = await first.prepare({ id: 'bot', source }, () => undefined, never);
    await Promise.all(names.map((name) => runBot(first, prepared, name)));
    endAttacks();
    const buildable = names.filter((name) => treeNamed(name).needsRoot !== true);
    await Promise.all(buildable.map((name) => runBuild(first, name)));
    await first.close();
    await noteRemovals();

    const orphans = orphanDirectories(dataDirectory);
    for (const { directory } of orphans)
      await createHostileDirectoryTrees(names, directory, { account: tenant, outside });
    for (const name of names) await attack(name, join(dataDirectory, 'instances', `left-${name}`, 'home'));
    const second = await open({ dataDirectory, logger });
    for (const { place, removed } of orphans) {
      for (const name of names) removals.push({ name, place, path: removed(name) });
    }
    await noteRemovals();
    await second.close();
    endAttacks();
    // Start a third server, because directory trees that an earlier server could not delete must not prevent a start.
    const third = await open({ dataDirectory, logger });
    await third.close();
    await settle();
    requireFilesOutsideTreeIntact(outside);
    return outcomes;
  } finally {
    endAttacks();
  }
}

/** Collects the trees that the server reports as quarantined. `settle` waits until all other trees are deleted. */
export function watchQuarantinedDirectoryTrees(quarantineDirectory: string) {
  const quarantined = new Map<string, string>();
  const logger: RuntimeLogger = {
    info: () => undefined,
    warn: () => undefined,
    error: (fields, message) => {
      const { from, path } = fields as { readonly from?: string; readonly path?: string };
      if (message === 'directory tree quarantined' && from !== undefined && path !== undefined)
        quarantined.set(from, path);
    },
  };
  const describeRemoval = (path: string): string => {
    if (existsSync(path)) return 'still there';
    const aside = quarantined.get(path);
    if (aside === undefined) return 'removed';
    return existsSync(aside) ? 'quarantined' : 'reported, but not quarantined';
  };
  /** Rejects if a tree is neither deleted nor reported within the time limit. The server deletes trees in the background. */
  const settle = async (): Promise<void> => {
    const deadline = performance.now() + settleMs;
    for (;;) {
      const reported = new Set(quarantined.values());
      const others = readdirSync(quarantineDirectory).filter((name) => !reported.has(join(quarantineDirectory, name)));
      if (others.length === 0) return;
      if (performance.now() > deadline)
        throw new Error(`the server did not report these quarantined directory trees: ${others.join(', ')}`);
      await delay(50);
    }
  };
  return { logger, describeRemoval, settle };
}

/** Removes everything that `runHostileDirectoryTreeScenario` created, including mounts and immutable files. */
export async function removeHostileDirectoryTrees(root: string): Promise<void> {
  const run = (program: string, ...parameters: readonly string[]) =>
    promisify(execFile)(program, parameters).catch(() => undefined);
  if (isRoot) {
    for (const line of readFileSync('/proc/self/mountinfo', 'utf8').split('\n')) {
      const mounted = line.split(' ')[4] ?? '';
      if (mounted.startsWith(`${root}/`)) await run('umount', '-l', mounted);
    }
    await run('chattr', '-R', '-f', '-i', root);
  }
  await run('chmod', '-R', 'u+rwX', root);
  await run('rm', '-rf', root);
}

type OrphanDirectory = {
  readonly place: string;
  readonly directory: (name: string) => string;
  /** Creates directories like those of a killed server, which the next server process has to remove. */
  readonly removed: (name: string) => string;
};

/** Returns the directories in which a killed server may have left files of bots and builds. */
function orphanDirectories(dataDirectory: string): readonly OrphanDirectory[] {
  const below = (folder: string, prefix: string, inner: string, removed = '') => ({
    directory: (name: string) => join(dataDirectory, folder, prefix + name, inner),
    removed: (name: string) => join(dataDirectory, folder, prefix + name, removed),
  });
  return [
    { place: 'home of a bot at start', ...below('instances', 'left-', 'home') },
    { place: 'output of a bot at start', ...below('instances', 'logged-', 'log/tree') },
    { place: 'home of a build at start', ...below('preparing', 'left-', 'home') },
    { place: 'discarded project at start', ...below('projects', '.old-', 'tree') },
    { place: 'environment at start', ...below('environments', 'organization-left-', 'environment/env', 'environment') },
    { place: 'cache at start', ...below('caches', 'organization-left-', 'files') },
  ];
}

export async function createHostileDirectoryTrees(
  names: readonly string[],
  directoryOf: (name: string) => string,
  options: { readonly account?: typeof tenant; readonly outside?: FilesOutsideTree } = {},
): Promise<void> {
  const { account = null, outside } = options;
  for (const directory of names.map(directoryOf)) {
    mkdirSync(directory, { recursive: true });
    if (account !== null) chownSync(directory, account.uid, account.gid);
  }
  const list = names.map((name) => [directoryOf(name), treeNamed(name).make]);
  await promisify(execFile)(process.execPath, ['-e', makeAll, JSON.stringify(list)], { cwd: '/', ...account });
  if (outside === undefined) return;
  for (const name of names) treeNamed(name).add?.(directoryOf(name), outside);
}

export function createFilesOutsideTree(root: string): FilesOutsideTree {
  const outside = { directory: join(root, 'outside'), file: join(root, 'outside-file') };
  mkdirSync(outside.directory);
  for (let i = 0; i < outsideFiles; i++) writeFileSync(join(outside.directory, String(i)), '');
  writeFileSync(outside.file, 'untouched');
  return outside;
}

export function requireFilesOutsideTreeIntact(outside: FilesOutsideTree): void {
  const files = readdirSync(outside.directory).length;
  if (files === outsideFiles && readFileSync(outside.file, 'utf8') === 'untouched') return;
  throw new Error(
    `a removal changed files outside the directory trees; ${files} of ${outsideFiles} outside files remain`,
  );
}

function writeProject(root: string, name: string, files: Readonly<Record<string, string>>): string {
  const directory = join(root, 'sources', name);
  mkdirSync(directory, { recursive: true });
  for (const [file, content] of Object.entries(files)) writeFileSync(join(directory, file), content);
  return directory;
}

/** Returns the Unix user id of a running instance, or null if the instance has no account of its own. */
function accountOf(directory: string): number | null {
  const { account } = JSON.parse(readFileSync(join(directory, 'spec.json'), 'utf8'));
  return account?.uid ?? null;
}

function treeNamed(name: string): HostileDirectoryTree {
  const tree = hostileDirectoryTrees[name];
  if (tree === undefined) throw new Error(`the hostile directory tree "${name}" is not defined`);
  return tree;
}
