import { lstatSync, mkdirSync, mkdtempSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createTraversableDirectory } from '../containment/isolation.ts';
import type { InstanceFiles } from '../records/instance-record.ts';

/** Maximum length of the path of a Unix socket (unix(7)). */
const maxPathBytes = 107;

// Directories in which the directory for short socket paths is created: the first if the service runs as root, otherwise the
// second. In both, other accounts cannot replace that directory.
const systemDirectory = '/run/bothost-sockets';
const sharedDirectory = '/tmp';

export type SocketPaths = {
  readonly of: (files: InstanceFiles) => string;
};

/**
 * Returns paths of sockets in the directories of instances. If a path is too long for a socket, the returned path goes through a
 * link in a directory with a short path. The link `<dataDirectory>/short-path` leads the next server process to this directory.
 * The directory is created again if a clean-up of `/tmp` has removed it.
 */
export function openSocketPaths(dataDirectory: string, instancesDirectory: string, isRoot: boolean): SocketPaths {
  const record = join(dataDirectory, 'short-path');
  const shorten = () => {
    const directory = requireDirectory(record, isRoot ? systemDirectory : sharedDirectory);
    const link = join(directory, 'i');
    if (readLink(link) !== instancesDirectory) replaceLink(link, instancesDirectory);
    return link;
  };
  // Repair the link now, because adopted instances may use it.
  if (readLink(record) !== null) shorten();
  return {
    of: (files) =>
      Buffer.byteLength(files.socket) <= maxPathBytes
        ? files.socket
        : join(shorten(), basename(files.directory), files.socket.slice(files.directory.length)),
  };
}

function requireDirectory(record: string, parent: string): string {
  const known = readLink(record);
  if (known !== null && isOwnDirectory(known)) return known;
  if (parent === systemDirectory) createTraversableDirectory(parent);
  const directory = (known !== null && tryMake(known)) || mkdtempSync(join(parent, 'bothost-'));
  createTraversableDirectory(directory);
  replaceLink(record, directory);
  return directory;
}

function isOwnDirectory(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === process.geteuid?.() && (stat.mode & 0o022) === 0;
}

function tryMake(path: string): string | null {
  try {
    mkdirSync(path, { mode: 0o700 });
    return path;
  } catch {
    return null;
  }
}

function readLink(path: string): string | null {
  try {
    return readlinkSync(path);
  } catch {
    return null;
  }
}

function replaceLink(path: string, target: string): void {
  rmSync(`${path}.next`, { force: true });
  symlinkSync(target, `${path}.next`);
  renameSync(`${path}.next`, path);
}
