import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { ProjectPreparationError } from '../../runtime.ts';

/** User and group id of an account. Null means the account of this process. */
export type UnixAccount = { readonly uid: number; readonly gid: number } | null;

export type InterpreterOptions = {
  readonly preferred: string;
  readonly path: string;
  readonly account: UnixAccount;
};

/** Finds a `node` that the bot's account can run; only the owner can reach some. Rejects with `ProjectPreparationError`. */
export async function findInterpreter(options: InterpreterOptions): Promise<string> {
  if (options.account === null) return options.preferred;
  for (const candidate of new Set([options.preferred, ...findProgramsInPath(['node'], options.path)])) {
    if ((await runProgramAsAccount(candidate, ['--version'], options.account)) !== null) return candidate;
  }
  throw new ProjectPreparationError(
    `Bots run under their own accounts. These accounts cannot run ${options.preferred} or any node program in PATH. Install Node.js where every account can run it, for example in /usr/local/bin.`,
  );
}

/** Files with these names in `PATH`, in the order of `names`, then of directories. Some may not be executable. */
export function findProgramsInPath(names: readonly string[], path: string): readonly string[] {
  const folders = path.split(delimiter).filter(isAbsolute);
  const candidates = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return candidates.filter(isFile);
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}

const trialMs = 20_000;

/** Runs a program as an account and returns its trimmed output, or null if it cannot be run or fails. */
export function runProgramAsAccount(
  file: string,
  parameters: readonly string[],
  account: UnixAccount,
  environment: Readonly<Record<string, string>> = {},
): Promise<string | null> {
  return new Promise((resolve) => {
    const options = { cwd: '/', env: environment, timeout: trialMs, ...(account ?? {}) };
    execFile(file, [...parameters], options, (error, stdout) => resolve(error === null ? stdout.trim() : null));
  });
}
