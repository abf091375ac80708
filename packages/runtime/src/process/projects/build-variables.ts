import { join } from 'node:path';
import { instanceIdVariable } from '../containment/containment.ts';
import { prependToPath } from '../instances/environment.ts';
import type { Builder } from './builder.ts';

export type BuildVariablesOptions = {
  readonly builder: Pick<Builder, 'name' | 'home' | 'cache'>;
  /** The directory of the interpreter, which comes first in `PATH`. Null leaves `PATH` unchanged. */
  readonly folder: string | null;
  readonly path: string;
  readonly language: string | undefined;
  readonly timeZone: string | undefined;
  /** Variables that the operator passes to builds, such as addresses of package indexes. */
  readonly passed: Readonly<Record<string, string>>;
  readonly variables: Readonly<Record<string, string>>;
};

/** Returns the environment of a build. It inherits only the variables of the service that the operator named. */
export function createBuildEnvironment(options: BuildVariablesOptions): Readonly<Record<string, string>> {
  const { home, cache } = options.builder;
  return {
    npm_config_audit: 'false',
    npm_config_fund: 'false',
    npm_config_progress: 'false',
    npm_config_update_notifier: 'false',
    UV_COMPILE_BYTECODE: '1',
    UV_NO_PROGRESS: '1',
    NO_COLOR: '1',
    ...uvVariables(options.passed),
    ...options.passed,
    // uv must not download Python interpreters, because the operator chooses them. uv would also store them in the build cache,
    // and the environments that use them would break when the cache is deleted.
    UV_PYTHON_DOWNLOADS: 'never',
    UV_LINK_MODE: 'copy',
    npm_config_cache: join(cache, 'npm'),
    YARN_CACHE_FOLDER: join(cache, 'yarn'),
    YARN_ENABLE_GLOBAL_CACHE: 'false',
    YARN_NODE_LINKER: 'node-modules',
    UV_CACHE_DIR: join(cache, 'uv'),
    XDG_CACHE_HOME: cache,
    XDG_DATA_HOME: join(cache, 'data'),
    ...options.variables,
    PATH: options.folder === null ? options.path : prependToPath(options.path, options.folder),
    HOME: home,
    TMPDIR: home,
    LANG: options.language ?? 'C.UTF-8',
    ...(options.timeZone === undefined ? {} : { TZ: options.timeZone }),
    [instanceIdVariable]: options.builder.name,
  };
}

/** Lets uv use the same package indexes and certificates as pip, because uv ignores pip's variables. */
function uvVariables(passed: BuildVariablesOptions['passed']): Readonly<Record<string, string>> {
  const copied = {
    ...(passed['UV_INDEX_URL'] === undefined ? { UV_DEFAULT_INDEX: passed['PIP_INDEX_URL'] } : {}),
    UV_INDEX: passed['PIP_EXTRA_INDEX_URL'],
    // `PIP_FIND_LINKS` separates locations by spaces, `UV_FIND_LINKS` by commas.
    UV_FIND_LINKS: passed['PIP_FIND_LINKS']?.trim().replaceAll(/\s+/g, ','),
    SSL_CERT_FILE: passed['PIP_CERT'],
  };
  const present = Object.entries(copied).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  // `UV_NATIVE_TLS` is the name of `UV_SYSTEM_CERTS` in earlier versions of uv.
  return { UV_SYSTEM_CERTS: '1', UV_NATIVE_TLS: '1', ...Object.fromEntries(present) };
}
