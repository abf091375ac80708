import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { withTemporaryDirectory } from '../benchmarked-service.ts';
import { type Benchmark, formatMilliseconds } from '../figure.ts';
import { minimalEnvironment, packageIndexEnvironmentVariables } from '../program.ts';
import { median } from '../quantile.ts';
import { botcliProgramPath } from '../repository.ts';

/**
 * Options for the largest project that both `botcli init` and `pipecat init` can create: separate services for speech to text,
 * language model and text to speech, with video, three transports and every feature.
 */
const choices = [
  ...['--mode', 'cascade', '--stt', 'deepgram_stt', '--llm', 'openai_llm', '--tts', 'cartesia_tts'],
  ...['--video', 'heygen_video', '--video-input', '--client-framework', 'react', '--client-server', 'nextjs'],
  ...['--recording', '--transcription', '--observability', '--eval'],
];
const ours = ['-t', 'lightrtc', '-t', 'hostedrtc', '-t', 'websocket', ...choices, '--enable-nc'];
const theirs = ['-t', 'smallwebrtc', '-t', 'daily', '-t', 'websocket', ...choices, '--enable-krisp'];
const vite = ['create', '--yes', 'vite@latest', 'app', '--', '--template', 'react-ts', '--no-interactive'];

/** Time limit for `botcli init`, as a multiple of the time of `node -e 0`. */
const most = 5;

/**
 * Compares the times of `botcli init`, `node -e 0`, `pipecat init` and `npm create vite`. Each round runs every command once.
 * Both `init` commands create a project with all features that both support.
 */
export const scaffoldBench: Benchmark = {
  name: 'scaffold',
  run: ({ quick, log, report }) =>
    withTemporaryDirectory(async (directory) => {
      log('installing pipecat-ai[cli]');
      const environment = join(directory, 'python');
      await run('python3', ['-m', 'venv', environment], directory);
      const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', 'pipecat-ai[cli]==1.14.0'];
      await run(join(environment, 'bin/python'), pip, directory);
      const programs = {
        node: [process.execPath, '-e', '0'],
        botcli: [process.execPath, botcliProgramPath, 'init', 'app', ...ours],
        pipecat: [join(environment, 'bin/pipecat'), 'init', 'app', ...theirs],
        vite: ['npm', ...vite],
      };
      const times: Record<keyof typeof programs, number[]> = { node: [], botcli: [], pipecat: [], vite: [] };
      // Discard the first round, which only fills the page cache and npm's cache.
      for (let index = -1; index < (quick ? 2 : 15); index++) {
        for (const [name, [file = '', ...args]] of Object.entries(programs)) {
          await rm(join(directory, 'app'), { recursive: true, force: true });
          const elapsed = await run(file, args, directory);
          if (index >= 0) times[name as keyof typeof programs].push(elapsed);
        }
        log(`turn ${index + 1}`);
      }
      const node = median(times.node);
      const multiple = (name: keyof typeof programs) =>
        `${formatMilliseconds(median(times[name]))} (${(median(times[name]) / node).toFixed(1)})`;
      report({
        what: 'botcli init, the largest project, against node -e 0',
        ours: formatMilliseconds(median(times.botcli)),
        reference: `${formatMilliseconds(node)}; pipecat init ${multiple('pipecat')}, npm create vite ${multiple('vite')}`,
        ratio: median(times.botcli) / node,
        limit: { most },
      });
    }),
};

/** Runs a program and returns its duration in milliseconds. Rejects if it fails. */
async function run(file: string, args: readonly string[], cwd: string): Promise<number> {
  const env = { ...minimalEnvironment, ...packageIndexEnvironmentVariables, HOME: cwd, PIPECAT_HUB_CHECK: '0' };
  const before = performance.now();
  const [code] = await once(spawn(file, args, { stdio: 'ignore', cwd, env }), 'exit');
  if (code !== 0) throw new Error(`${file} ${args.join(' ')} exited with status ${code}`);
  return performance.now() - before;
}
