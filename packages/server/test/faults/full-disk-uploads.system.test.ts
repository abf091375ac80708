import { execFileSync } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startTestServer } from '../support/test-server.ts';

const isRoot = process.geteuid?.() === 0;

/** Only root can mount a small disk. */
it.runIf(isRoot)('refuses uploads on a nearly full disk before it writes a byte', async ({ skip }) => {
  const disk = await mkdtemp(join(tmpdir(), 'bothost-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=100m,mode=0711', 'tmpfs', disk], { stdio: 'ignore' });
  } catch {
    await rm(disk, { recursive: true });
    return skip('this machine does not let root mount a tmpfs');
  }
  onTestFinished(async () => {
    execFileSync('umount', ['-l', disk]);
    await rm(disk, { recursive: true });
  });
  await chmod(disk, 0o711);
  const service = await startTestServer({ environment: { BOTHOST_DATA_DIR: join(disk, 'data') } });
  onTestFinished(() => service.close());
  const announced = { region: 'us-west', contentHash: 'a'.repeat(64), sizeBytes: 4 };
  const { uploadUrl, uploadFields } = await service.client.getBuildUploadUrl({ body: announced });
  const headers = { 'upload-token': uploadFields.token, 'upload-offset': '0' };
  const answer = await fetch(uploadUrl, { method: 'PATCH', headers, body: 'data' });
  expect(answer.status).toBe(507);
  expect(await answer.json()).toMatchObject({ reason: 'storage-full' });
  expect(await readdir(join(disk, 'data', 'builds', 'uploads'))).toEqual([]);
});
