import { join } from 'node:path';
import { INSTANCE_VARIABLE, withFolder } from '../instances/environment.ts';
import type { Builder } from './builder.ts';

export type BuildVariablesOptions = {
  readonly builder: Pick<Builder, 'name' | 'home' | 'cache'>;
  /** Put in front of the service's `PATH`. */
  readonly folder: string | null;
  readonly path: string;
  readonly language: string | undefined;
  readonly timeZone: string | undefined;
  /** Variables that the operator passes to builds, such as addresses of package indexes. */
  readonly passed: Readonly<Record<string, string>>;
  /** Of this command only. */
  readonly variables: Readonly<Record<string, string>>;
};

/** The complete environment of a build. Of the service's own environment it contains only what the operator named. */
export function buildVariables(options: BuildVariablesOptions): Readonly<Record<string, string>> {
  const { home, cache } = options.builder;
  return {
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_progress: 'false',
    npm_config_update_notifier: 'false',
    PIP_DISABLE_PIP_VERSION_CHECK: '1',
    PIP_NO_INPUT: '1',
    PIP_PROGRESS_BAR: 'off',
    UV_COMPILE_BYTECODE: '1',
    UV_NO_PROGRESS: '1',
    NO_COLOR: '1',
    ...uvVariables(options.passed),
    ...options.passed,
    // The operator chooses the interpreters. A link into the cache would break when the cache is deleted.
    UV_PYTHON_DOWNLOADS: 'never',
    UV_LINK_MODE: 'copy',
    npm_config_cache: join(cache, 'npm'),
    YARN_CACHE_FOLDER: join(cache, 'yarn'),
    YARN_ENABLE_GLOBAL_CACHE: 'false',
    YARN_NODE_LINKER: 'node-modules',
    PIP_CACHE_DIR: join(cache, 'pip'),
    UV_CACHE_DIR: join(cache, 'uv'),
    XDG_CACHE_HOME: cache,
    // pnpm keeps its store here.
    XDG_DATA_HOME: join(cache, 'data'),
    ...options.variables,
    PATH: options.folder === null ? options.path : withFolder(options.path, options.folder),
    HOME: home,
    TMPDIR: home,
    LANG: options.language ?? 'C.UTF-8',
    ...(options.timeZone === undefined ? {} : { TZ: options.timeZone }),
    [INSTANCE_VARIABLE]: options.builder.name,
  };
}

/** Lets uv use the package indexes and the certificates that pip would use. It ignores pip's variables. */
function uvVariables(passed: BuildVariablesOptions['passed']): Readonly<Record<string, string>> {
  const copied = {
    ...(passed['UV_INDEX_URL'] === undefined ? { UV_DEFAULT_INDEX: passed['PIP_INDEX_URL'] } : {}),
    UV_INDEX: passed['PIP_EXTRA_INDEX_URL'],
    // pip separates by spaces, uv by commas.
    UV_FIND_LINKS: passed['PIP_FIND_LINKS']?.trim().replaceAll(/\s+/g, ','),
    SSL_CERT_FILE: passed['PIP_CERT'],
  };
  const present = Object.entries(copied).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  // Earlier versions of uv know only the second name of this variable.
  return { UV_SYSTEM_CERTS: '1', UV_NATIVE_TLS: '1', ...Object.fromEntries(present) };
}
