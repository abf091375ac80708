import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { isRoot, testAsRoot } from '../../../test/root.ts';
import { createTestDirectory } from '../../../test/test-directory.ts';
import { unixAccountForAccessChecks } from '../containment/isolation.ts';
import { getInstanceFiles } from '../records/instance-record.ts';
import { findBoundSocket } from './bound-socket.ts';

const account = isRoot ? unixAccountForAccessChecks : null;

async function openInstance() {
  const root = await createTestDirectory(0o711);
  const files = getInstanceFiles(root, 'i');
  await mkdir(files.directory, { mode: 0o711 });
  await mkdir(files.socketDirectory, { mode: 0o700 });
  if (account !== null) await chown(files.socketDirectory, account.uid, account.gid);
  return { files, find: () => findBoundSocket(files, { socket: '/short/path', account }) };
}

async function listen(path: string) {
  const server = createServer().listen(path);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  if (account !== null) await chown(path, account.uid, account.gid);
}

it('findBoundSocket returns null until the bot has bound its socket', async () => {
  const { files, find } = await openInstance();
  expect(find()).toBeNull();
  await listen(files.socket);
  expect(find()).toBe('/short/path');
});

it('findBoundSocket returns null for a link to the socket of another program', async () => {
  const { files, find } = await openInstance();
  const other = join(files.directory, 'other');
  await listen(other);
  await symlink(other, files.socket);
  expect(find()).toBeNull();
});

testAsRoot('findBoundSocket changes directory permissions so that the bot cannot remove its socket', async () => {
  const { files, find } = await openInstance();
  await listen(files.socket);
  const remove = () => execFileSync('rm', [files.socket], { stdio: 'ignore', ...unixAccountForAccessChecks });
  find();
  expect(remove).toThrow();
  expect(find()).toBe('/short/path');
});
