import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { PrepareError } from '../../runtime.ts';

/** Null: this process' own. */
export type TryAccount = { readonly uid: number; readonly gid: number } | null;

export type InterpreterOptions = {
  /** Tried first. */
  readonly preferred: string;
  readonly path: string;
  /** The account to try it as. */
  readonly account: TryAccount;
};

/**
 * Finds a `node` that the bot's account can run, by running it: a version manager often puts it where only its owner can
 * reach. Rejects with `PrepareError`.
 */
export async function findInterpreter(options: InterpreterOptions): Promise<string> {
  if (options.account === null) return options.preferred;
  for (const candidate of new Set([options.preferred, ...programsNamed(['node'], options.path)])) {
    if ((await tryProgram(candidate, ['--version'], options.account)) !== null) return candidate;
  }
  throw new PrepareError(
    `Bots run under accounts of their own, and those cannot run Node.js: neither ${options.preferred} nor a node in PATH is executable for them. Install Node.js where every account can reach it, for example in /usr/local/bin.`,
  );
}

/** The files of these names in the folders of `PATH`, by name first. Nothing says yet that they can be run. */
export function programsNamed(names: readonly string[], path: string): readonly string[] {
  const folders = path.split(delimiter).filter(isAbsolute);
  const candidates = names.flatMap((name) => folders.map((folder) => join(folder, name)));
  return candidates.filter((candidate) => statSync(candidate, { throwIfNoEntry: false })?.isFile() === true);
}

const TRIAL_MILLISECONDS = 20_000;

/** What a program prints, without the space around it, run as an account; null when that cannot run it, or it fails. */
export function tryProgram(
  file: string,
  parameters: readonly string[],
  account: TryAccount,
  environment: Readonly<Record<string, string>> = {},
): Promise<string | null> {
  return new Promise((resolve) => {
    const options = { cwd: '/', env: environment, timeout: TRIAL_MILLISECONDS, ...(account ?? {}) };
    execFile(file, [...parameters], options, (error, stdout) => resolve(error === null ? stdout.trim() : null));
  });
}
