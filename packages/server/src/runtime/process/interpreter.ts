import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { PrepareError } from '../runtime.ts';

export type InterpreterOptions = {
  /** Tried first. */
  readonly preferred: string;
  readonly path: string;
  /** The account to try it as; null: this process' own. */
  readonly account: { readonly uid: number; readonly gid: number } | null;
};

/**
 * Finds a `node` that the bot's account can run, by running it: a version manager often puts it where only its owner can
 * reach. Rejects with `PrepareError`.
 */
export async function findInterpreter(options: InterpreterOptions): Promise<string> {
  if (options.account === null) return options.preferred;
  const folders = options.path.split(delimiter).filter(isAbsolute);
  const candidates = [options.preferred, ...folders.map((folder) => join(folder, 'node'))];
  for (const candidate of new Set(candidates)) {
    if (statSync(candidate, { throwIfNoEntry: false })?.isFile() !== true) continue;
    if (await runs(candidate, options.account)) return candidate;
  }
  throw new PrepareError(
    `Bots run under accounts of their own, and those cannot run Node.js: neither ${options.preferred} nor a node in PATH is executable for them. Install Node.js where every account can reach it, for example in /usr/local/bin.`,
  );
}

function runs(file: string, account: { readonly uid: number; readonly gid: number }): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(file, ['--version'], { cwd: '/', env: {}, timeout: 10_000, ...account }, (error) =>
      resolve(error === null),
    );
  });
}
