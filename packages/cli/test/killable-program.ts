import { type ChildProcess, spawnSync, spawn as start } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { createInterface } from 'node:readline';
import { buildBotcli } from './build-botcli.ts';

/** The built program, which a test can kill with SIGKILL just before one of its changes to the file system. */
export type KillableProgram = {
  /** Creates an empty directory for each attempt of a test, so that a retry starts clean. */
  readonly ownFolder: () => Promise<string>;
  /** Runs the program to its end. With `kill`, kills the program just before the file system change with this index. */
  readonly run: (args: readonly string[], kill?: number | null) => ReturnType<typeof spawn>;
  readonly start: (args: readonly string[]) => ChildProcess;
  /** Starts a program that pauses before the file system change with index `at`, and resolves when it has paused. */
  readonly hang: (args: readonly string[], at: number) => Promise<ChildProcess>;
  readonly remove: () => Promise<void>;
};

const killAt = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
let left = Number(process.env.KILL_AT);
const changes = ['renameSync', 'rmSync', 'writeFileSync', 'mkdirSync', 'chmodSync', 'mkdtempSync', 'rmdirSync'];
for (const name of changes) {
  const real = fs[name];
  fs[name] = (...args) => {
    if (left-- === 0) {
      if (process.env.HANG === '') process.kill(process.pid, 'SIGKILL');
      process._rawDebug('hanging');
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    }
    return real(...args);
  };
}
syncBuiltinESMExports();
`;

export async function buildKillableProgram(): Promise<KillableProgram> {
  const program = await buildBotcli();
  const folder = await mkdtemp(join(tmpdir(), 'botcli-killed-'));
  const hook = join(program, 'kill.mjs');
  await writeFile(hook, killAt);
  return {
    ownFolder: () => mkdtemp(join(folder, 'try-')),
    run: (args, kill = null) => spawn(folder, kill === null ? null : { hook, kill }, program, args),
    start: (args) =>
      start(execPath, [join(program, 'bin/botcli.js'), ...args], { env: { HOME: folder }, stdio: 'ignore' }),
    hang: async (args, at) => {
      const child = start(execPath, ['--import', hook, join(program, 'bin/botcli.js'), ...args], {
        env: { HOME: folder, KILL_AT: String(at), HANG: 'yes' },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      for await (const line of createInterface(child.stderr)) if (line === 'hanging') return child;
      throw new Error(`The program ended before its file system change with index ${at}, where it should have paused.`);
    },
    remove: async () => {
      for (const place of [program, folder]) await rm(place, { recursive: true, force: true });
    },
  };
}

function spawn(
  home: string,
  killed: { readonly hook: string; readonly kill: number } | null,
  program: string,
  args: readonly string[],
) {
  const flags = killed === null ? [] : ['--import', killed.hook];
  const env = { HOME: home, KILL_AT: String(killed?.kill), HANG: '' };
  return spawnSync(execPath, [...flags, join(program, 'bin/botcli.js'), ...args], { env, encoding: 'utf8' });
}

export async function readTextFilesRecursively(place: string): Promise<Record<string, string>> {
  const entries = await readdir(place, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const texts = files.map(async (file) => [file.slice(place.length + 1), await readFile(file, 'utf8')] as const);
  return Object.fromEntries(await Promise.all(texts));
}
