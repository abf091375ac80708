import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What generated code is held against: the newest release that it was written for, with what installs everywhere. */
const requirements = [
  'pipecat-ai[runner,silero,webrtc,websocket,daily,livekit,rnnoise,openai,deepgram,cartesia]==1.14.0',
  'pipecat-ai-whisker>=2.0.0,<3',
  'pyright>=1.1.404,<2',
];

/** A Python environment with the library, made once for these requirements and kept in the cache. Answers its `bin`. */
export async function openLibraryEnvironment(cache: string, python: string | undefined): Promise<string> {
  const interpreter = python ?? 'python3';
  const { stdout: version } = await run(interpreter, ['-c', 'import sys; print(sys.version)']);
  const hash = createHash('sha256')
    .update(JSON.stringify([version, requirements]))
    .digest('hex')
    .slice(0, 16);
  const environment = join(cache, `pipecat-${hash}`);
  const bin = join(environment, 'bin');
  // Written last: what was broken off is made anew.
  const mark = join(environment, 'complete');
  if (existsSync(mark)) return bin;
  await rm(environment, { recursive: true, force: true });
  await mkdir(cache, { recursive: true });
  await run(interpreter, ['-m', 'venv', environment]);
  const quiet = ['--quiet', '--disable-pip-version-check', '--no-input'];
  await run(join(bin, 'python'), ['-m', 'pip', 'install', ...quiet, ...requirements], { maxBuffer: 10_000_000 });
  await writeFile(mark, '');
  return bin;
}
