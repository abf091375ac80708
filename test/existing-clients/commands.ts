import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify, stripVTControlCharacters } from 'node:util';
import { requireUvInstallation } from '../../packages/cli/test/pipecat/uv.ts';
import versions from './versions.json' with { type: 'json' };

export type CommandResult = { readonly status: number; readonly output: string };
export type CommandOptions = {
  readonly directory?: string;
  /** Environment variables to set for the command; undefined removes a variable. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  /**
   * Pairs of a prompt and the keys to type at the prompt. With `answers`, the command runs in a terminal; without, it has no
   * terminal.
   */
  readonly answers?: readonly (readonly [prompt: string, keys: string])[];
};

export type CommandRunner = {
  /** Runs `pipecat` with these arguments, or a Python file. The output contains standard output and standard error. */
  readonly run: (commandLine: readonly string[], options?: CommandOptions) => Promise<CommandResult>;
  readonly close: () => void;
};

/**
 * Installs a version of `pipecatcloud` with Pipecat's CLI into the cache, and starts a process that runs commands with it, one at
 * a time.
 */
export async function openCommandRunner(
  version: string,
  defaults: { readonly directory: string; readonly environment: Readonly<Record<string, string>> },
): Promise<CommandRunner> {
  const server = spawn(join(await install(version), 'python'), [join(import.meta.dirname, 'run_commands.py')], {
    stdio: ['pipe', 'pipe', 'inherit'],
    // Set the variables when the process starts, because aiohttp reads SSL_CERT_FILE when it is imported, before the first
    // command.
    env: defaults.environment,
  });
  const results = createInterface(server.stdout)[Symbol.asyncIterator]();
  return {
    run: async (commandLine, { directory, environment, answers = [] } = {}) => {
      const request = {
        arguments: commandLine,
        environment: { ...defaults.environment, ...environment },
        directory: directory ?? defaults.directory,
        answers,
      };
      server.stdin.write(`${JSON.stringify(request)}\n`);
      const { value } = await results.next();
      const { status, output } = JSON.parse(value) as CommandResult;
      return { status, output: stripVTControlCharacters(output).replaceAll('\r\n', '\n') };
    },
    close: () => server.stdin.end(),
  };
}

/** Installs `pipecatcloud` and Pipecat's CLI, and returns the directory that contains their programs. */
async function install(version: string): Promise<string> {
  const uv = requireUvInstallation();
  const env = { ...uv.environment, UV_EXCLUDE_NEWER: `${versions.date}T00:00:00Z` };
  const environment = join(uv.cache, `pipecatcloud-${version}-${versions.date}`);
  const bin = join(environment, 'bin');
  // This marker is written last, so that an interrupted installation starts again.
  const mark = join(environment, 'complete');
  if (existsSync(mark)) return bin;
  await rm(environment, { recursive: true, force: true });
  const run = (...args: readonly string[]) => promisify(execFile)(uv.program, ['--quiet', ...args], { env });
  await run('venv', environment);
  await run(
    'pip',
    'install',
    '--compile-bytecode',
    '--python',
    environment,
    `pipecatcloud==${version}`,
    'pipecat-ai-cli',
  );
  await writeFile(mark, '');
  return bin;
}
