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
 * Returns paths of sockets in the directories of instances. If a path is longer than `maxPathBytes`, the returned path contains
 * a symbolic link to `instancesDirectory`. This link is in a directory with a short path below `/run` or `/tmp`. The short path
 * is stored as the target of a second link, `<dataDirectory>/short-path`, so that the next server process uses it too. If a
 * clean-up of `/tmp` has removed the directory with the short path, it is created again.
 */
export function prepareSocketPaths(dataDirectory: string, instancesDirectory: string, isRoot: boolean): SocketPaths {
  const record = join(dataDirectory, 'short-path');
  const shorten = () => {
    const directory = requireDirectory(record, isRoot ? systemDirectory : sharedDirectory);
    const link = join(directory, 'i');
    if (readLink(link) !== instancesDirectory) replaceLink(link, instancesDirectory);
    return link;
  };
  // Create the directory and its link again if they are missing, because instances that a previous server process started may
  // use them.
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
