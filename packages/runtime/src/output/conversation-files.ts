import { chownSync, closeSync, constants, fchmodSync, fstatSync, lstatSync, openSync, readSync } from 'node:fs';
import { z } from 'zod';
import type { ConversationFileName, ConversationFilePart } from '../runtime.ts';

/** Device and inode of a file that the service created, as decimal numbers. */
export const fileIdentitySchema = z.object({ device: z.string(), inode: z.string() });
export type FileIdentity = z.infer<typeof fileIdentitySchema>;

/** The same kind of value for each file to which a bot appends its conversation. */
export type ConversationFiles<Value> = Readonly<Record<ConversationFileName, Value>>;

type Account = { readonly uid: number; readonly gid: number };

/**
 * Creates the empty files to which a bot appends its conversation. If the bot has its own account, only the bot and the service can
 * open the files, and the bot cannot replace them if the directory belongs to the service.
 */
export function createConversationFiles(
  paths: ConversationFiles<string>,
  account: Account | null,
): ConversationFiles<FileIdentity> {
  return { lines: createFile(paths.lines, account), recording: createFile(paths.recording, account) };
}

function createFile(path: string, account: Account | null): FileIdentity {
  const file = openSync(path, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY | constants.O_NOFOLLOW, 0o600);
  try {
    fchmodSync(file, 0o600);
    if (account !== null) chownSync(path, account.uid, account.gid);
    const { dev, ino } = fstatSync(file, { bigint: true });
    return { device: String(dev), inode: String(ino) };
  } finally {
    closeSync(file);
  }
}

/**
 * Reads at most `maximumBytes` from an offset, without waiting. Returns `replaced` if the path is not the regular file that the
 * service created, or if the file has a second name. The service would otherwise read a file that the bot itself cannot read.
 */
export function readConversationFile(
  path: string,
  identity: FileIdentity,
  offset: number,
  maximumBytes: number,
): ConversationFilePart {
  // Most calls find nothing new, so do not open the file for them.
  const seen = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (seen === undefined || !isOwnFile(seen, identity)) return { kind: 'replaced' };
  if (Number(seen.size) <= offset || maximumBytes === 0)
    return { kind: 'bytes', bytes: Buffer.alloc(0), fileBytes: Number(seen.size) };
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const stat = fstatSync(file, { bigint: true });
    if (!isOwnFile(stat, identity)) return { kind: 'replaced' };
    const fileBytes = Number(stat.size);
    const bytes = Buffer.alloc(Math.max(0, Math.min(maximumBytes, fileBytes - offset)));
    return { kind: 'bytes', bytes: bytes.subarray(0, readSync(file, bytes, 0, bytes.length, offset)), fileBytes };
  } finally {
    closeSync(file);
  }
}

function isOwnFile(
  stat: { readonly dev: bigint; readonly ino: bigint; readonly nlink: bigint; isFile(): boolean },
  { device, inode }: FileIdentity,
): boolean {
  return stat.isFile() && stat.nlink === 1n && String(stat.dev) === device && String(stat.ino) === inode;
}
