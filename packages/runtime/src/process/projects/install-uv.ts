import { execFile } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTraversableDirectory } from '../containment/isolation.ts';

const uvVersion = '0.13.8';
/** SHA-256 hashes of this version's wheels for Linux: x86-64 and ARM64, with glibc and with musl. */
const wheelHashes = [
  'e18a57b8b352eb7c8feb317b9f6f533c8f0ad9673fd6cf34bbe3cf1a9f6a8984',
  '29451c60f5e8b07403e0a175d5229efc36b0289b34143ff4aaa499a5dd52553a',
  '0b3e8b1a4f5e405e31e2ff33de8af4744831e9f7338539671efbd8c3c94e791d',
  '5337c30bb893b4f9ce0ceb921ba2da0d13f649da644f40ad3bef84083bef0203',
];
const timeoutMs = 120_000;

export type InstallUvOptions = {
  readonly python: string;
  /** Directory for tools that the service installs. Its mode is 0711, so that the user accounts of builds can run the tools. */
  readonly toolsDirectory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
};

/**
 * Returns the path of uv in `toolsDirectory`. If uv is missing, first installs it there from the Python package index. pip
 * verifies the wheel's hash and runs no code from the wheel. If pip fails, rejects with an error that has pip's messages as
 * `stderr`. Do not call it concurrently for one directory.
 */
export async function installUv({ python, toolsDirectory, environment, signal }: InstallUvOptions): Promise<string> {
  const versions = join(toolsDirectory, 'uv');
  const directory = join(versions, uvVersion);
  const program = join(directory, 'uv');
  if (existsSync(program)) return program;
  for (const path of [toolsDirectory, versions]) createTraversableDirectory(path);
  for (const name of readdirSync(versions)) rmSync(join(versions, name), { recursive: true });
  const staging = join(versions, '.installing');
  const virtual = join(staging, 'environment');
  const requirements = join(staging, 'requirements.txt');
  const options = { cwd: '/', env: { ...environment, HOME: staging }, timeout: timeoutMs, signal };
  const run = (program: string, ...parameters: string[]) => promisify(execFile)(program, parameters, options);
  try {
    mkdirSync(join(staging, 'bin'), { recursive: true });
    const hashes = wheelHashes.map((hash) => ` --hash=sha256:${hash}`).join('');
    writeFileSync(requirements, `uv==${uvVersion}${hashes}\n`);
    await run(python, '-I', '-m', 'venv', virtual);
    const only = ['--require-hashes', '--no-deps', '--only-binary', ':all:'];
    const quick = ['--quiet', '--no-input', '--no-cache-dir', '--retries', '1', '--timeout', '20'];
    const pip = [join(virtual, 'bin/python'), '-I', '-m', 'pip', '--disable-pip-version-check'] as const;
    await run(...pip, 'install', ...only, ...quick, '-r', requirements);
    const staged = join(staging, 'bin/uv');
    copyFileSync(join(virtual, 'bin/uv'), staged);
    for (const path of [join(staging, 'bin'), staged]) chmodSync(path, 0o755);
    renameSync(join(staging, 'bin'), directory);
    return program;
  } finally {
    rmSync(staging, { recursive: true, force: true });
  }
}
