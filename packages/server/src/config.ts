import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { inspect } from 'node:util';
import type { z } from 'zod';
import { findTurnSecretProblem } from './ice-servers-setting.ts';
import { OperatorError } from './operator-error.ts';
import { defaultShutdownGraceSeconds, type Setting, settings } from './settings.ts';

type Settings = typeof settings;
type Names<Secret extends boolean> = {
  [Name in keyof Settings]: Settings[Name]['secret'] extends Secret ? Name : never;
}[keyof Settings];
type Values<Secret extends boolean> = { readonly [Name in Names<Secret>]: z.output<Settings[Name]['schema']> };

/** All settings. A log shows `secrets` as `[secret]`. */
export type Config = Omit<Values<false>, 'dataDirectory' | 'shutdownGraceSeconds'> & {
  readonly dataDirectory: string;
  readonly shutdownGraceSeconds: number;
  readonly secrets: Values<true> & {
    /** Environment variables for builds. Treated as secret, because a URL may contain a password. */
    readonly buildVariables: Readonly<Record<string, string>>;
  };
  /** Variables of the service's environment that the runtime passes to bots. */
  readonly inherited: {
    readonly path: string;
    readonly language: string | undefined;
    readonly timeZone: string | undefined;
  };
  /** Where a pod finds the API server of its cluster. Null outside a cluster. */
  readonly kubernetesApiServer: { readonly host: string; readonly port: string } | null;
  /** Path of the CLI profile that the first start of the service writes. */
  readonly profileFile: string;
};

/** An error that lists all invalid settings by name, without the values of secrets. */
export class ConfigError extends OperatorError {
  override readonly name = 'ConfigError';
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads all settings from the environment. Some defaults depend on whether the service runs as root (`isRoot`) and on a
 * terminal (`isTerminal`).
 *
 * @throws ConfigError that lists all problems
 */
export function readConfig(
  environment: Environment = process.env,
  isRoot = process.geteuid?.() === 0,
  isTerminal = process.stdout.isTTY === true,
): Config {
  const problems: string[] = [];
  const read = <T>(one: Setting<T>): T => {
    const { name: found, text, problem } = lookUp(one, environment);
    const parsed = one.schema.safeParse(text);
    if (problem !== null) problems.push(problem);
    else if (!parsed.success)
      problems.push(`${found}: ${parsed.error.issues.map((issue) => issue.message).join('; ')}`);
    return parsed.data as T;
  };
  const all = Object.entries<Setting<unknown>>(settings).map(([key, one]) => ({ key, one, value: read(one) }));
  const valuesOf = (isSecret: boolean) =>
    Object.fromEntries(all.filter(({ one }) => one.secret === isSecret).map(({ key, value }) => [key, value]));
  const open = valuesOf(false) as Values<false>;
  const secrets = valuesOf(true) as Values<true>;
  if (problems.length === 0) {
    const problem = findTurnSecretProblem(secrets.iceServers, secrets.turnSecret);
    if (problem !== null) problems.push(problem);
  }
  if (problems.length > 0) throw new ConfigError(`Invalid settings:\n  ${problems.join('\n  ')}`);
  return {
    ...open,
    dataDirectory: open.dataDirectory ?? defaultDataDirectory(environment, isRoot),
    shutdownGraceSeconds:
      open.shutdownGraceSeconds ??
      (isTerminal ? defaultShutdownGraceSeconds.onTerminal : defaultShutdownGraceSeconds.otherwise),
    secrets: redacted({
      ...secrets,
      buildVariables: Object.fromEntries(
        open.buildEnvironment.flatMap((variable) => {
          const value = environment[variable];
          return value === undefined || value === '' ? [] : [[variable, value]];
        }),
      ),
    }),
    inherited: {
      path: environment['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
      language: environment['LANG'],
      timeZone: environment['TZ'],
    },
    kubernetesApiServer: findKubernetesApiServer(environment),
    profileFile:
      environment['BOTCLI_CONFIG'] || join(xdg(environment, 'XDG_CONFIG_HOME', '.config'), 'botcli/config.toml'),
  };
}

/** Makes `JSON.stringify` and `util.inspect` show `[secret]` instead of the values, so that no log contains them. */
function redacted<Values extends object>(values: Values): Values {
  const show = { value: () => '[secret]' };
  return Object.defineProperties(values, { toJSON: show, [inspect.custom]: show });
}

function lookUp(one: Setting<unknown>, environment: Environment) {
  const found = one.names.find((candidate) => nonEmpty(environment, candidate)) ?? one.names[0] ?? '';
  const text = environment[found];
  const file = one.secret ? environment[`${found}_FILE`] : undefined;
  // An empty BOTHOST_AGENTS is valid and means no agents. Other empty variables count as unset.
  if (nonEmpty(environment, found) || (text === '' && found === 'BOTHOST_AGENTS'))
    return { name: found, text, problem: null };
  if (file === undefined || file === '') return { name: found, text: undefined, problem: null };
  try {
    return { name: found, text: readFileSync(file, 'utf8').trim(), problem: null };
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    return { name: found, text: undefined, problem: `${found}_FILE: cannot read ${file}: ${reason}` };
  }
}

function nonEmpty(environment: Environment, key: string): boolean {
  return environment[key] !== undefined && environment[key] !== '';
}

/** Kubernetes sets these variables in each pod. */
function findKubernetesApiServer(environment: Environment): Config['kubernetesApiServer'] {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment;
  return host === undefined || port === undefined ? null : { host, port };
}

function defaultDataDirectory(environment: Environment, isRoot: boolean): string {
  return isRoot ? '/var/lib/bothost' : join(xdg(environment, 'XDG_DATA_HOME', '.local/share'), 'bothost');
}

/** Relative paths in XDG variables are ignored, as the XDG Base Directory Specification requires. */
function xdg(environment: Environment, variable: string, fallback: string): string {
  const value = environment[variable];
  return value !== undefined && isAbsolute(value) ? value : join(environment['HOME'] || homedir(), fallback);
}
