import { execFile } from 'node:child_process';
import { copyFile, cp, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { withTemporaryDirectory } from '../benchmarked-service.ts';
import { createBotEnvironmentVariables } from '../first-second/voice-bot.ts';
import { docker } from '../parrot-image.ts';
import { minimalEnvironment } from '../program.ts';
import {
  botcliProgramPath,
  builtBenchDirectory,
  pythonHostDirectory,
  repositoryRoot,
  standInVendorsModulePath,
  voiceBotsDockerfilePath,
} from '../repository.ts';

/** The images by the names of their agents. */
export const voiceImages = {
  quickstart: 'bothost-bench-quickstart:1',
  phone: 'bothost-bench-phone:1',
} as const;

/** The carrier is Exotel, because the bots for all other carriers send requests to their carrier. */
const phoneOptions = '-t exotel -m cascade --stt deepgram_stt --llm openai_llm --tts cartesia_tts'.split(' ');

/** Returns the name of the image on which the tests of containers are based. Undefined if they have not made it yet. */
export async function findBaseImage(): Promise<string | undefined> {
  const format = '{{.Repository}}:{{.Tag}}';
  return (
    (await docker('images', '--filter', 'reference=bothost-test-base', '--format', format)).split('\n')[0] || undefined
  );
}

/**
 * Builds the images, and removes them after `use`, which gets the path of a Python interpreter for callers: a script that runs
 * Python in a container, on the network of this machine.
 */
export async function withVoiceImages(base: string, use: (interpreter: string) => Promise<void>): Promise<void> {
  await withTemporaryDirectory(async (directory) => {
    for (const words of [['quickstart'], ['phone', ...phoneOptions]]) {
      const options = { cwd: directory, env: minimalEnvironment };
      await promisify(execFile)(process.execPath, [botcliProgramPath, 'init', ...words], options);
    }
    await mkdir(join(directory, 'bench/node_modules'), { recursive: true });
    await cp(builtBenchDirectory, join(directory, 'bench/dist'), { recursive: true });
    await cp(dirname(fileURLToPath(import.meta.resolve('ws/package.json'))), join(directory, 'bench/node_modules/ws'), {
      recursive: true,
    });
    await writeFile(join(directory, 'bench/package.json'), '{ "type": "module" }');
    await cp(pythonHostDirectory, join(directory, 'bothost_shim'), { recursive: true });
    await copyFile(standInVendorsModulePath, join(directory, 'reach_stand_ins.py'));
    await writeFile(join(directory, 'start.sh'), startScript);
    const images = Object.entries(voiceImages);
    try {
      for (const [target, image] of images) {
        const options = ['-q', '--network', 'host', '--build-arg', `BASE=${base}`, '-f', voiceBotsDockerfilePath];
        await docker('build', ...options, '--target', target, '-t', image, directory);
      }
      const interpreter = join(directory, 'python');
      const run = `docker run -i --rm --init --network host -v ${repositoryRoot}:${repositoryRoot}:ro ${voiceImages.quickstart}`;
      await writeFile(interpreter, `#!/bin/sh\nexec ${run} python "$@"\n`, { mode: 0o755 });
      await use(interpreter);
    } finally {
      for (const [, image] of images) await docker('rmi', '-f', image);
    }
  });
}

/** Starts the vendors, and then the bot. The vendors print their port. */
const startScript = `node /bench/dist/programs/stand-in-vendors.js >/tmp/port &
until [ -s /tmp/port ]; do sleep 0.05; done
read -r port </tmp/port
${Object.entries(createBotEnvironmentVariables('/app', '127.0.0.1:$port'))
  .map(([name, value]) => `export ${name}="${value}"`)
  .join('\n')}
exec python -m bothost_shim
`;
