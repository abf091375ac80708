import { delimiter } from 'node:path';

export type EnvironmentOptions = {
  readonly instanceId: string;
  readonly port: number;
  readonly home: string;
  /** Directory of the interpreter, which comes first in `PATH` unless `PATH` contains it already. */
  readonly folder: string;
  readonly path: string;
  readonly language: string | undefined;
  readonly timeZone: string | undefined;
  readonly variables: Readonly<Record<string, string>>;
};

/**
 * Contains the instance's id. If there are neither control groups nor separate accounts, an instance's processes are
 * recognized by this variable.
 */
export const INSTANCE_ID_VARIABLE = 'BOTHOST_INSTANCE';

/**
 * The complete environment of a bot (docs/bot-contract.md, "Environment"). It inherits nothing from the service's
 * environment, and `variables` cannot override what the service sets.
 */
export function botEnvironment(options: EnvironmentOptions): Readonly<Record<string, string>> {
  return {
    ...options.variables,
    PATH: prependToPath(options.path, options.folder),
    HOME: options.home,
    TMPDIR: options.home,
    ...(options.language === undefined ? {} : { LANG: options.language }),
    ...(options.timeZone === undefined ? {} : { TZ: options.timeZone }),
    PORT: String(options.port),
    BOT_HOST: '127.0.0.1',
    [INSTANCE_ID_VARIABLE]: options.instanceId,
  };
}

/** Puts a directory in front of a `PATH`, unless the `PATH` contains it already. */
export function prependToPath(path: string, folder: string): string {
  return path.split(delimiter).includes(folder) ? path : `${folder}${delimiter}${path}`;
}
