import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, rm, statfs, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/**
 * Mounts a tmpfs of this size, and unmounts it when the test ends. Returns null if this machine does not allow the
 * mount.
 */
export async function mountSmallDisk(megabytes: number, at?: string): Promise<string | null> {
  const path = at ?? (await mkdtemp(join(tmpdir(), 'bothost-disk-')));
  return mount(path, ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0711`, 'tmpfs', path]);
}

/** Like `mountSmallDisk`, with ext4 on a loop device. */
export async function mountSmallLoopDisk(megabytes: number): Promise<string | null> {
  const image = join(await mkdtemp(join(tmpdir(), 'bothost-image-')), 'image');
  onTestFinished(() => rm(join(image, '..'), { recursive: true }));
  const path = await mkdtemp(join(tmpdir(), 'bothost-disk-'));
  await writeFile(image, '');
  await truncate(image, megabytes * 1024 * 1024);
  execFileSync('mkfs.ext4', ['-q', '-m', '0', image]);
  const mounted = await mount(path, ['-o', 'loop', image, path]);
  if (mounted !== null) await chmod(mounted, 0o711);
  return mounted;
}

async function mount(path: string, parameters: readonly string[]): Promise<string | null> {
  try {
    execFileSync('mount', parameters, { stdio: 'ignore' });
  } catch {
    await rm(path, { recursive: true });
    return null;
  }
  onTestFinished(async () => {
    execFileSync('umount', ['-l', path]);
    await rm(path, { recursive: true });
  });
  return path;
}

/** Writes a file so large that only `leaveBytes` bytes remain free on the disk. Returns the path of the file. */
export async function fillDisk(path: string, leaveBytes: number): Promise<string> {
  const { bavail, bsize } = await statfs(path);
  const filler = join(path, 'filler');
  await writeFile(filler, Buffer.alloc(Math.max(0, bavail * bsize - leaveBytes))).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOSPC') throw error;
    },
  );
  return filler;
}
