import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const options = { maxBuffer: 64 * 1_048_576 };

/** Runs a program and returns its standard output. Rejects with its error output when it fails. */
export async function readCommandOutput(program: string, ...words: readonly string[]): Promise<string> {
  return (await run(program, words, options)).stdout.trim();
}

/** Runs a documented shell script with additional environment variables and returns its standard output. */
export async function runScript(text: string, directory: string, variables: Readonly<Record<string, string>>) {
  const assignments = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return (await run('env', [...assignments, 'bash', '-euc', text], { ...options, cwd: directory })).stdout.trim();
}

export const runDocker = (...words: readonly string[]) => readCommandOutput('docker', ...words);

/** Returns the standard output and standard error of a container. */
export async function readContainerLogs(container: string): Promise<string> {
  const { stdout, stderr } = await run('docker', ['logs', container], options);
  return stdout + stderr;
}

export async function canRunCommand(program: string, ...words: readonly string[]): Promise<boolean> {
  return readCommandOutput(program, ...words).then(
    () => true,
    () => false,
  );
}

/** The command `docker compose`, or `docker-compose` in older installations. */
export async function findComposeCommand(): Promise<string> {
  return (await canRunCommand('docker', 'compose', 'version')) ? 'docker compose' : 'docker-compose';
}
