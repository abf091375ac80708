import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, linkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/** A directory tree that breaks a program that reads or removes the tree carelessly. */
export type HostileDirectoryTree = {
  /**
   * Body of an async function that creates the tree. It runs in an empty directory under the tenant's account and may use Node's
   * `fs`.
   */
  readonly make: string;
  /** Adds files to the tree. Only the service's account can create these files, so `make` cannot add them. */
  readonly add?: (directory: string, outside: FilesOutsideTree) => void;
  /**
   * Starts a process that changes the tree during its removal. The process prints a line when it starts, and ends when the tree
   * no longer exists.
   */
  readonly attack?: (directory: string, outside: FilesOutsideTree) => ChildProcess;
  readonly needsRoot?: true;
  /**
   * The kind of file system that the tree needs: `disk` if tmpfs can hold the tree only with a recent kernel, `tmpfs` if most
   * disk file systems cannot hold the tree.
   */
  readonly needs?: 'disk' | 'tmpfs';
  readonly outcome: 'removed' | 'quarantined' | 'removed or quarantined';
  /**
   * The error with which `protectDirectoryTree` rejects a project that contains the tree. Undefined if `protectDirectoryTree`
   * accepts the project.
   */
  readonly buildError?: RegExp;
};

/**
 * Files that must survive every removal of a tree. `directory` contains `outsideFiles` files with the names 0, 1, 2 and so on.
 */
export type FilesOutsideTree = { readonly directory: string; readonly file: string };

/**
 * Account of the processes that change a directory tree while the runtime removes it. No bot has this account, so the runtime
 * does not kill these processes.
 */
const attacker = process.geteuid?.() === 0 ? { uid: 60_999, gid: 60_999 } : null;

export const outsideFiles = 500;

/**
 * Code that repeatedly replaces a directory with a link to `target`. Both contain files with the same names, so a removal by path
 * would remove files of the target.
 */
const swapDirectoryWithLink = (target: string) => `
const fs = require('node:fs');
const holdForMillisecond = () => {
  const until = process.hrtime.bigint() + 1_000_000n;
  while (process.hrtime.bigint() < until);
};
fs.mkdirSync('inner');
for (let i = 0; i < ${outsideFiles}; i++) fs.writeFileSync('inner/' + i, '');
console.log('swapping');
for (;;) {
  try {
    fs.renameSync('inner', 'kept');
    fs.symlinkSync(${JSON.stringify(target)}, 'inner');
    holdForMillisecond();
    fs.unlinkSync('inner');
    fs.renameSync('kept', 'inner');
    holdForMillisecond();
  } catch {
    try { fs.mkdirSync('inner'); } catch (error) { if (error.code === 'ENOENT') break; }
  }
}`;

export const hostileDirectoryTrees: Readonly<Record<string, HostileDirectoryTree>> = {
  deep: {
    make: "const name = 'd'.repeat(200); for (let i = 0; i < 60; i++) { fs.mkdirSync(name); process.chdir(name); }",
    outcome: 'removed',
    buildError: /longer than the 4095 bytes/,
  },
  wide: {
    make: "for (let i = 0; i < 3000; i++) fs.closeSync(fs.openSync('file-' + i, 'w'));",
    outcome: 'removed',
  },
  'not-utf-8': {
    make: `fs.mkdirSync(Buffer.from('caf\\xe9', 'latin1'));
      fs.writeFileSync(Buffer.from('caf\\xe9/\\xff', 'latin1'), '');`,
    outcome: 'removed',
    buildError: /caf\\xe9.* not UTF-8/,
  },
  'mode-0000': {
    make: `fs.mkdirSync('locked/inner', { recursive: true });
      fs.writeFileSync('locked/inner/file', '', { mode: 0 });
      for (const path of ['locked/inner', 'locked', '.']) fs.chmodSync(path, 0);`,
    outcome: 'removed',
  },
  'not-utf-8-with-mode-0000': {
    make: `const name = Buffer.from('\\xe9', 'latin1');
      fs.mkdirSync(name);
      fs.writeFileSync(Buffer.from('\\xe9/file', 'latin1'), '');
      fs.chmodSync(name, 0);`,
    outcome: 'removed',
    buildError: /\\xe9.* not UTF-8/,
  },
  immutable: {
    make: "fs.writeFileSync('immutable', '');",
    add: (directory) => execFileSync('chattr', ['+i', join(directory, 'immutable')]),
    needsRoot: true,
    needs: 'disk',
    outcome: 'quarantined',
  },
  'mounted-tmpfs': {
    make: "fs.mkdirSync('mounted');",
    add: (directory) => execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', join(directory, 'mounted')]),
    needsRoot: true,
    outcome: 'quarantined',
  },
  'bind-mounted': {
    make: "fs.mkdirSync('mounted');",
    add: (directory, outside) => execFileSync('mount', ['--bind', outside.directory, join(directory, 'mounted')]),
    needsRoot: true,
    outcome: 'quarantined',
  },
  'symbolic-links': {
    make: "fs.symlinkSync('/etc/passwd', 'file'); fs.symlinkSync('loop', 'loop');",
    add: (directory, outside) => symlinkSync(outside.directory, join(directory, 'outside')),
    outcome: 'removed',
  },
  'symbolic-link-race': {
    make: "fs.mkdirSync('race');",
    attack: (directory, outside) => {
      const cwd = join(directory, 'race');
      if (attacker !== null) chownSync(cwd, attacker.uid, attacker.gid);
      const program = swapDirectoryWithLink(outside.directory);
      return spawn(process.execPath, ['-e', program], { cwd, stdio: ['ignore', 'pipe', 'inherit'], ...attacker });
    },
    outcome: 'removed or quarantined',
  },
  'hard-links': {
    make: "fs.writeFileSync('file', ''); fs.linkSync('file', 'again');",
    add: (directory, outside) => linkSync(outside.file, join(directory, 'outside')),
    outcome: 'removed',
  },
  fifo: {
    make: "require('node:child_process').execFileSync('mkfifo', ['fifo']);",
    outcome: 'removed',
  },
  socket: {
    // Rename the socket file, because `close` removes the file at the path on which the server listens.
    make: `const server = require('node:net').createServer();
      await new Promise((resolve) => server.listen('listening', resolve));
      fs.renameSync('listening', 'socket');
      server.close();`,
    outcome: 'removed',
  },
  device: {
    make: '',
    add: (directory) => execFileSync('mknod', [join(directory, 'device'), 'c', '1', '3']),
    needsRoot: true,
    outcome: 'removed',
  },
  sparse: {
    make: "fs.writeFileSync('sparse', ''); fs.truncateSync('sparse', 16 * 2 ** 40 - 4096);",
    outcome: 'removed',
  },
  '8-EiB': {
    // Use the program `truncate`, because Node's function `truncate` rejects sizes above 2^53.
    make: "require('node:child_process').execFileSync('truncate', ['-s', '9223372036854775807', 'sparse']);",
    needs: 'tmpfs',
    outcome: 'removed',
  },
};
