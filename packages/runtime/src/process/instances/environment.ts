import { delimiter } from 'node:path';

export type EnvironmentOptions = {
  readonly instanceId: string;
  readonly port: number;
  readonly home: string;
  /** Where its interpreter lies: `PATH` begins with it, unless it is there already. */
  readonly folder: string;
  /** `PATH` for bots. */
  readonly path: string;
  readonly language: string | undefined;
  readonly timeZone: string | undefined;
  readonly variables: Readonly<Record<string, string>>;
};

/** The mark by which an instance's processes are known where nothing better is at hand. */
export function environmentMark(instanceId: string): string {
  return `BOTHOST_INSTANCE=${instanceId}`;
}

/**
 * All that a bot sees of its surroundings (bot contract 2.4): nothing of the service's own environment comes in, and what
 * the caller gives cannot replace what the service sets.
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
    BOTHOST_INSTANCE: options.instanceId,
  };
}

/** `PATH` with a folder that is looked into first, unless it is looked into anyway. */
export function withFolder(path: string, folder: string): string {
  return path.split(delimiter).includes(folder) ? path : `${folder}${delimiter}${path}`;
}
