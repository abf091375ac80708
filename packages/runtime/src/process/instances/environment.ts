import { delimiter } from 'node:path';

export type EnvironmentOptions = {
  readonly instanceId: string;
  readonly port: number;
  readonly home: string;
  /** Directory of the interpreter. `PATH` begins with it, unless it contains it already. */
  readonly folder: string;
  /** `PATH` for bots. */
  readonly path: string;
  readonly language: string | undefined;
  readonly timeZone: string | undefined;
  readonly variables: Readonly<Record<string, string>>;
};

/** Holds the instance's id. Without control groups and accounts, an instance's processes are recognized by it. */
export const INSTANCE_VARIABLE = 'BOTHOST_INSTANCE';

/**
 * The complete environment of a bot (docs/bot-contract.md, "Environment"). It contains nothing of the service's own
 * environment, and `variables` cannot replace what the service sets.
 */
export function botEnvironment(options: EnvironmentOptions): Readonly<Record<string, string>> {
  return {
    ...options.variables,
    PATH: withFolder(options.path, options.folder),
    HOME: options.home,
    TMPDIR: options.home,
    ...(options.language === undefined ? {} : { LANG: options.language }),
    ...(options.timeZone === undefined ? {} : { TZ: options.timeZone }),
    PORT: String(options.port),
    BOT_HOST: '127.0.0.1',
    [INSTANCE_VARIABLE]: options.instanceId,
  };
}

/** `PATH` with the folder in front, unless it contains the folder already. */
export function withFolder(path: string, folder: string): string {
  return path.split(delimiter).includes(folder) ? path : `${folder}${delimiter}${path}`;
}
