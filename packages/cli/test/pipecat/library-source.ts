import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Interpreter } from './find-python.ts';
import { requireUvInstallation } from './uv.ts';

/** Downloads the source of a pipecat-ai release without its dependencies, only for reading. The source is cached. */
export async function downloadPipecatSource(release: string, python: Interpreter): Promise<string> {
  const uv = requireUvInstallation();
  const place = join(uv.cache, `pipecat-source-${release}`);
  // The file that marks a complete download. It is written last, so that an interrupted download is repeated.
  const mark = join(place, 'complete');
  if (existsSync(mark)) return place;
  await rm(place, { recursive: true, force: true });
  const env = { ...uv.environment, UV_PYTHON: python.program };
  const install = ['pip', 'install', '--quiet', '--no-deps', '--target', place, `pipecat-ai==${release}`];
  await promisify(execFile)(uv.program, install, { env });
  await writeFile(mark, '');
  return place;
}
