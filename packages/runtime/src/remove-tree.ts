import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { chmod, lstat, readdir, readFile, realpath, rename, unlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { DirectoryTreeRemover, RuntimeLogger } from './runtime.ts';
import { runProgram } from './spawner.ts';

/**
 * Milliseconds after which an unfinished removal of a tree is reported. The removal continues. A million files take about 20 s.
 */
const reportMs = 10 * 60_000;
/** Maximum time that a caller, such as the start-up, waits. The removal continues in the background. */
const waitMs = 1_000;
/** Memory limit of `rm`, whose memory counts against the service. `rm` needs memory for each level of a tree. */
const memoryKibibytes = 1024 * 1024;
const reasonCharacters = 500;

export type TreeRemoverOptions = {
  /** A directory on the trees' file system. Trees are renamed into it; those of a previous process are removed. */
  readonly quarantineDirectory: string;
  readonly logger: Pick<RuntimeLogger, 'error'>;
};

/**
 * Removes trees that a tenant may have written. A tree first moves to the quarantine, which only the service can enter.
 * There, `rm` walks relative to open directories: no long path, name or link misleads it. A tree that it cannot delete
 * stays there and is logged as an error.
 */
export function openTreeRemover({ quarantineDirectory, logger }: TreeRemoverOptions): DirectoryTreeRemover {
  const reported = new Set<string>();
  mkdirSync(quarantineDirectory, { recursive: true });
  chmodSync(quarantineDirectory, 0o700);

  const deleteOrReport = async (path: string, from: string): Promise<void> => {
    const reason = await deleteTree(path).catch(String);
    if (reason === null || reported.has(path)) return;
    reported.add(path);
    const isQuarantined = dirname(path) === quarantineDirectory;
    logger.error(
      { path, from, reason },
      isQuarantined ? 'directory tree quarantined' : 'directory tree could not be removed',
    );
  };

  const removeEarlier = async (): Promise<void> => {
    for (const name of await readdir(quarantineDirectory)) {
      const path = join(quarantineDirectory, name);
      await deleteOrReport(path, path);
    }
  };
  removeEarlier().catch((error: unknown) => logger.error({ err: error }, 'quarantine directory could not be read'));

  return async (path) => {
    const stat = await lstat(path).catch((error: NodeJS.ErrnoException) => error);
    if (stat instanceof Error) {
      if (stat.code === 'ENOENT') return true;
      logger.error({ path, err: stat }, 'directory tree could not be removed');
      return false;
    }
    if (!stat.isDirectory() && (await succeeds(unlink(path)))) return true;
    // Set mode 0700 first: moving a directory requires write permission on it, and if the move fails, no other account can enter
    // the tree.
    if (stat.isDirectory()) await succeeds(chmod(path, 0o700));
    const name = basename(path).replace(/^\.+/, '').slice(0, 64);
    const aside = join(quarantineDirectory, `${name}.${randomUUID()}`);
    const isMoved = await succeeds(rename(path, aside));
    const settled = new AbortController();
    const removal = deleteOrReport(isMoved ? aside : path, path).finally(() => settled.abort());
    await Promise.race([removal, delay(waitMs, undefined, { signal: settled.signal }).catch(() => undefined)]);
    return isMoved || !existsSync(path);
  };
}

async function deleteTree(path: string): Promise<string | null> {
  const mountPoint = await findMountPoint(path);
  if (mountPoint !== null) return `a file system is mounted at ${mountPoint}`;
  const remove = ['rm', '-rf', '--one-file-system', '--', path] as const;
  const reason = await run(...remove);
  if (reason === null || process.geteuid?.() === 0) return reason;
  // Root must not run this `chmod`: root needs no permissions, and a tenant could replace a file with a link and so redirect the
  // `chmod` to another file.
  await run('chmod', '-R', 'u+rwX', '--', path);
  return run(...remove);
}

/**
 * Returns the first mount point at or below a path. `rm` itself does not detect a bind mount of the same file system.
 */
async function findMountPoint(path: string): Promise<string | null> {
  // Resolve the path, because mounts are listed by real paths.
  const bytes = Buffer.from(await realpath(path)).toString('latin1');
  // The fifth field is the mount point, with octal escapes (proc_pid_mountinfo(5)).
  for (const line of (await readFile('/proc/self/mountinfo', 'latin1')).split('\n')) {
    const mountPoint = line
      .split(' ')[4]
      ?.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
    if (mountPoint === bytes || mountPoint?.startsWith(`${bytes}/`))
      return Buffer.from(mountPoint, 'latin1').toString();
  }
  return null;
}

/** Runs a command. Returns null if the command succeeds, or otherwise the reason why it failed or has not ended in time. */
async function run(...command: readonly string[]): Promise<string | null> {
  // Use the lowest CPU priority, because removals of many files must not slow down the service.
  const script = `ulimit -v ${memoryKibibytes}; exec nice -n 19 "$@"`;
  const options = { cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' }, unref: true };
  const running = runProgram(['sh', '-c', script, 'sh', ...command], options);
  const settled = new AbortController();
  const late = delay(reportMs, null, { signal: settled.signal, ref: false });
  const result = await Promise.race([running, late]).finally(() => settled.abort());
  if (result === null) return `${command[0]} is still running after ${reportMs / 60_000} minutes`;
  return result.code === 0 ? null : result.stderr.slice(0, reasonCharacters) || `${command[0]} failed`;
}

async function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
