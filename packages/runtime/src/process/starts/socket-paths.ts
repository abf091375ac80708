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
 * Returns the paths of the Unix sockets of instances. Each socket is in the directory of its instance, below
 * `instancesDirectory`. If the path of a socket is longer than `maxPathBytes`, the returned path replaces `instancesDirectory`
 * by a short symbolic link to it.
 *
 * The short link is in a directory of its own below `/run` or `/tmp`. The symbolic link `<dataDirectory>/short-path` points to
 * that directory, so that the next server process uses the same one. If that directory is missing, for example because a
 * program cleaned up `/tmp`, it is created again.
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
