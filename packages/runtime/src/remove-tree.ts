import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { chmod, lstat, readdir, readFile, realpath, rename, unlink } from 'node:fs/promises';
import { Socket } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { RemoveTree, RuntimeLogger } from './runtime.ts';

/** After this a tree is reported; its removal continues. A million files take about 20 s. */
const REPORT_MS = 10 * 60_000;
/** The caller, which may be a start-up, waits at most this long; the removal continues in the background. */
const WAIT_MS = 1_000;
/** `rm` needs memory for each level of a tree. It is the service's memory, so an extremely deep tree stays in quarantine. */
const MEMORY_KIBIBYTES = 1024 * 1024;
const REASON_CHARACTERS = 500;

export type TreeRemoverOptions = {
  /** On the file system of the trees. What it holds from earlier is removed in the background. */
  readonly quarantineDirectory: string;
  readonly logger: Pick<RuntimeLogger, 'error'>;
};

/**
 * Removes trees that a tenant may have written. A tree first moves to the quarantine directory, which only the service can
 * enter, and is deleted there by `rm`, which walks relative to open directories: neither long paths nor names that are not
 * UTF-8 stop it, and no link leads it elsewhere. What `rm` cannot delete stays there, and an error is logged with its path.
 */
export function openTreeRemover({ quarantineDirectory, logger }: TreeRemoverOptions): RemoveTree {
  const reported = new Set<string>();
  mkdirSync(quarantineDirectory, { recursive: true });
  chmodSync(quarantineDirectory, 0o700);

  const deleteOrReport = async (path: string, from: string): Promise<void> => {
    const reason = await deleteTree(path).catch(String);
    if (reason === null || reported.has(path)) return;
    reported.add(path);
    const isQuarantined = dirname(path) === quarantineDirectory;
    logger.error({ path, from, reason }, isQuarantined ? 'tree quarantined' : 'tree could not be removed');
  };

  const removeEarlier = async (): Promise<void> => {
    for (const name of await readdir(quarantineDirectory)) {
      const path = join(quarantineDirectory, name);
      await deleteOrReport(path, path);
    }
  };
  removeEarlier().catch((error: unknown) => logger.error({ err: error }, 'quarantine could not be read'));

  return async (path) => {
    const stat = await lstat(path).catch((error: NodeJS.ErrnoException) => error);
    if (stat instanceof Error) {
      if (stat.code === 'ENOENT') return true;
      logger.error({ path, err: stat }, 'tree could not be removed');
      return false;
    }
    if (!stat.isDirectory() && (await succeeds(unlink(path)))) return true;
    // Required to move a directory, and closes a tree that cannot be moved to all other accounts.
    if (stat.isDirectory()) await succeeds(chmod(path, 0o700));
    // Not hidden from the operator's `ls`.
    const name = basename(path).replace(/^\.+/, '').slice(0, 64);
    const aside = join(quarantineDirectory, `${name}.${randomUUID()}`);
    const isMoved = await succeeds(rename(path, aside));
    const settled = new AbortController();
    const removal = deleteOrReport(isMoved ? aside : path, path).finally(() => settled.abort());
    await Promise.race([removal, delay(WAIT_MS, undefined, { signal: settled.signal }).catch(() => undefined)]);
    return isMoved || !existsSync(path);
  };
}

/** Null if nothing is left, otherwise the reason. */
async function deleteTree(path: string): Promise<string | null> {
  const mountPoint = await findMountPoint(path);
  if (mountPoint !== null) return `a file system is mounted at ${mountPoint}`;
  const remove = ['rm', '-rf', '--one-file-system', '--', path] as const;
  const reason = await run(...remove);
  if (reason === null || process.geteuid?.() === 0) return reason;
  // Root needs no permissions. For root, a link in the place of a file could redirect `chmod` to another file.
  await run('chmod', '-R', 'u+rwX', '--', path);
  return run(...remove);
}

/** The first mount point at or below a path. `rm` itself does not notice a bind mount of the same file system. */
async function findMountPoint(path: string): Promise<string | null> {
  // Mounts are listed by real paths.
  const bytes = Buffer.from(await realpath(path)).toString('latin1');
  // proc_pid_mountinfo(5): the fifth field. White space and backslashes are octal escapes.
  for (const line of (await readFile('/proc/self/mountinfo', 'latin1')).split('\n')) {
    const mountPoint = line
      .split(' ')[4]
      ?.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
    if (mountPoint === bytes || mountPoint?.startsWith(`${bytes}/`))
      return Buffer.from(mountPoint, 'latin1').toString();
  }
  return null;
}

/** Null when the program succeeds, otherwise the beginning of its errors. */
function run(program: string, ...parameters: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    const script = `ulimit -v ${MEMORY_KIBIBYTES}; exec "$@"`;
    const child = spawn('sh', ['-c', script, 'sh', program, ...parameters], {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    // First: without it, a program that cannot be started ends the server.
    child.once('error', (error) => resolve(error.message));
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(0, REASON_CHARACTERS);
    });
    const timer = setTimeout(
      () => resolve(`${program} is still running after ${REPORT_MS / 60_000} minutes`),
      REPORT_MS,
    );
    // A server that stops does not wait for it.
    child.unref();
    timer.unref();
    if (child.stderr instanceof Socket) child.stderr.unref();
    child.once('close', (code) => {
      clearTimeout(timer);
      resolve(code === 0 ? null : errors || `${program} failed`);
    });
  });
}

async function succeeds(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  );
}
