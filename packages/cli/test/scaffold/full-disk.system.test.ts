import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { buildBotcli } from '../build-botcli.ts';
import { cascadeBotOptions } from './cascade-bot-options.ts';

/** Runs `init` of the built program on small file systems in a mount namespace. Skipped if only root may mount. */
const program = await buildBotcli();
const directory = await mkdtemp(join(tmpdir(), 'botcli-full-'));
await mkdir(join(directory, 'disk'));
afterAll(() =>
  Promise.all([program, directory].map((path) => rm(path, { recursive: true, force: true }))).then(() => undefined),
);

const choices = [...cascadeBotOptions, '-n', 'demo'].join(' ');

type ProcessResult = { readonly status: number; readonly stdout: string; readonly stderr: string };

async function shell(script: string): Promise<ProcessResult> {
  const namespace = ['--map-root-user', '--mount', '/bin/sh', '-eu', '-c', script];
  const child = spawn('unshare', namespace, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { status: Number(status), stdout, stderr };
}

/** Mounts a small file system, runs the shell command `before` and then `botcli init` on it, and lists the files on it. */
async function onDisk(
  size: string,
  before: string,
  target: string,
  ...options: readonly string[]
): Promise<ProcessResult> {
  return shell(`
    mount -t tmpfs -o size=${size} none disk
    ${before}
    status=0
    "${process.execPath}" "${program}/bin/botcli.js" init ${target} ${choices} ${options.join(' ')} >/dev/null || status=$?
    (cd disk && find . -type f -exec md5sum {} + && find . -mindepth 1 -type d) | sort
    exit $status
  `);
}

beforeEach(async ({ skip }) => {
  const allowed = await shell('mount -t tmpfs none disk').catch(() => null);
  if (allowed?.status !== 0) skip('this user gets no file system of their own');
});

describe('init on a full disk', () => {
  test.each([
    ['a new directory', 'true', 'disk/demo'],
    ['a directory within others that are made', 'true', 'disk/a/b/demo'],
    ['the disk itself', 'true', 'disk'],
  ])('reports the full disk and writes nothing to a target that is %s', async (_what, before, target) => {
    const { status, stdout, stderr } = await onDisk('24k', before, target);
    expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
    expect(stderr).toContain('Cannot write the project, because the disk is full');
    expect(stderr).toContain('Nothing was written.');
    expect(stderr).not.toContain('.botcli-');
  });

  test('keeps existing files despite --force', async () => {
    const before = 'mkdir -p disk/demo/server; echo mine >disk/demo/README.md; echo mine >disk/demo/server/bot.py';
    const kept = await shell(
      `${before}; (cd disk && find . -type f -exec md5sum {} + && find . -mindepth 1 -type d) | sort`,
    );
    await rm(join(directory, 'disk/demo'), { recursive: true });
    const { status, stdout, stderr } = await onDisk('40k', before, 'disk/demo', '--force', '--overwrite-guide');
    expect({ status, stdout }).toEqual({ status: 1, stdout: kept.stdout });
    expect(stderr).toContain('the disk is full');
  });

  test('reports a disk without free inodes', async () => {
    const { status, stderr } = await onDisk('1m,nr_inodes=6', 'true', 'disk/demo');
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining('the disk is full') });
  });
});

test('project add on a full disk changes all files or none', async () => {
  const { status, stdout, stderr } = await shell(`
    botcli() { "${process.execPath}" "${program}/bin/botcli.js" "$@" >/dev/null; }
    list() { (cd "$1" && find . -type f -exec md5sum {} + | sort -k 2); }
    rm -rf old new
    botcli init old ${choices}
    cp -r old new
    botcli project add recording new --yes
    list old >old.txt
    list new >new.txt
    for room in 0 8 16 24 32 40 48 56 64; do
      mount -t tmpfs -o size=1m none disk
      cp -r old disk/demo
      head -c $(($(df --output=avail -k disk | tail -1) - room))k /dev/zero >disk/filler
      if botcli project add recording disk/demo --yes; then made=new; else made=old; fi
      list disk/demo | diff $made.txt -
      echo $made
      umount disk
    done
  `);
  expect({ status, stdout }).toEqual({ status: 0, stdout: expect.stringMatching(/^(old\n){3,}(new\n)+$/) });
  const errors = stderr.split('\n').filter((line) => line.startsWith('error: '));
  expect(errors).not.toEqual([]);
  for (const line of errors) expect(line).toMatch(/because the disk is full\. Nothing was changed\.$/);
});

test('init accepts a mount point, such as the volume of a container, as its target', async () => {
  const { status, stdout, stderr } = await onDisk('1m', 'echo mine >disk/notes.txt', 'disk');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain('./server/bot.py');
  expect(stdout).toContain('./notes.txt');
  expect(stdout).not.toContain('.botcli-');
});

test('init reports that the file size limit is exceeded, and writes nothing', async () => {
  const { status, stdout, stderr } = await onDisk('1m', 'ulimit -f 2', 'disk/demo');
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toContain('the file is larger than the limit of the system. Nothing was written.');
});

test('init writes into a directory that contains a mount point', async () => {
  const before = 'mkdir -p disk/demo/server; mount -t tmpfs none disk/demo/server';
  const { status, stdout, stderr } = await onDisk('1m', before, 'disk/demo');
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toContain('./demo/README.md');
  expect(stdout).toContain('./demo/server/bot.py');
  expect(stdout).not.toContain('.botcli-');
});

test('init reports a read-only file system', async () => {
  const { status, stdout, stderr } = await onDisk('1m', 'mount -o remount,ro none disk', 'disk/demo');
  expect({ status, stdout }).toEqual({ status: 1, stdout: '' });
  expect(stderr).toContain('the file system is read-only');
});
