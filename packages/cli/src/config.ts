import { homedir, hostname } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Settings from environment variables. A missing or empty variable is null. */
export type EnvironmentVariableSettings = {
  readonly apiUrl: string | null;
  readonly token: string | null;
  readonly publicKey: string | null;
  readonly operatorToken: string | null;
  /** Data directory of a service on this machine. Commands read the operator token from it. The directory might not exist. */
  readonly dataDirectory: string;
  readonly organization: string | null;
  readonly output: string | null;
  readonly profileFile: string;
  /** True if `NO_COLOR` is set (https://no-color.org) or `TERM` is `dumb`. */
  readonly noColor: boolean;
  /** True if `TERM` is `dumb`. Such a terminal cannot erase a line, so botcli shows no status line. */
  readonly isDumbTerminal: boolean;
  /** False on Linux without a graphical session: botcli then does not try to open a browser. */
  readonly hasDisplay: boolean;
  /** Proxies and certificates for requests. Null if none of their variables is set. */
  readonly network: NetworkSettings | null;
  /** Name of this machine. It is shown to the person who approves a login, so that the person recognizes which machine asks. */
  readonly hostName: string;
  /** The package manager that started this program, or null if no package manager did. */
  readonly packageManager: PackageManager | null;
};

/** `noProxy` is a list of hosts, as in `NO_PROXY`. A certificate file has one or more certificates in PEM format. */
export type NetworkSettings = {
  readonly httpProxy: string | null;
  readonly httpsProxy: string | null;
  readonly noProxy: string | null;
  readonly certificateFiles: readonly string[];
};

const packageManagers = ['npm', 'pnpm', 'yarn', 'bun'] as const;
export type PackageManager = (typeof packageManagers)[number];

export const environmentVariables: readonly (readonly [name: string, description: string])[] = [
  ['BOTCLI_API_URL', 'URL of the service, such as http://127.0.0.1:7420; a trailing /v1 is accepted'],
  ['BOTCLI_TOKEN', 'Private key or personal access token'],
  ['BOTCLI_PUBLIC_KEY', 'Public key, for `cloud agent start`'],
  ['BOTCLI_OPERATOR_TOKEN', 'Operator token of a service, for the `operator` commands'],
  ['BOTHOST_DATA_DIR', 'Data directory of a service on this machine, for the `operator` commands'],
  ['BOTCLI_ORG', 'Organization to act in'],
  ['BOTCLI_OUTPUT', 'Output mode: rich, plain or json'],
  ['BOTCLI_CONFIG', 'Profile to use instead of $XDG_CONFIG_HOME/botcli/config.toml'],
  ['HTTP_PROXY', 'Proxy for requests; loopback never uses it. HTTPS_PROXY has precedence for https URLs'],
  ['NO_PROXY', 'Hosts that are reached without the proxy, separated by commas; * for all'],
  ['SSL_CERT_FILE', 'File of certificates to trust in addition to those of Node'],
  ['NO_COLOR', 'Set to any value to turn off colors'],
];

/** Reads the settings from the environment. No other file of botcli reads environment variables. */
export function readEnvironmentVariableSettings(
  variables: NodeJS.ProcessEnv = process.env,
): EnvironmentVariableSettings {
  const read = (name: string) => variables[name]?.trim() || null;
  return {
    apiUrl: read('BOTCLI_API_URL'),
    token: read('BOTCLI_TOKEN'),
    publicKey: read('BOTCLI_PUBLIC_KEY'),
    operatorToken: read('BOTCLI_OPERATOR_TOKEN'),
    dataDirectory: read('BOTHOST_DATA_DIR') ?? defaultDataDirectory(variables),
    organization: read('BOTCLI_ORG'),
    output: read('BOTCLI_OUTPUT'),
    profileFile: read('BOTCLI_CONFIG') ?? join(configDirectory(variables), 'botcli', 'config.toml'),
    noColor: Boolean(variables['NO_COLOR']) || variables['TERM'] === 'dumb',
    isDumbTerminal: variables['TERM'] === 'dumb',
    hasDisplay: process.platform !== 'linux' || read('DISPLAY') !== null || read('WAYLAND_DISPLAY') !== null,
    network: readNetworkSettings(read),
    hostName: hostname(),
    packageManager: packageManagers.find((name) => variables['npm_config_user_agent']?.startsWith(`${name}/`)) ?? null,
  };
}

function readNetworkSettings(read: (name: string) => string | null): NetworkSettings | null {
  // The names in lower case have precedence, as in curl.
  const proxy = (name: string) => read(name.toLowerCase()) ?? read(name);
  const [httpProxy, httpsProxy, file] = [proxy('HTTP_PROXY'), proxy('HTTPS_PROXY'), read('SSL_CERT_FILE')];
  if (httpProxy === null && httpsProxy === null && file === null) return null;
  // Node ignores its own variable for connections with explicit certificates.
  const certificateFiles = file === null ? [] : [file, read('NODE_EXTRA_CA_CERTS')].filter((name) => name !== null);
  return { httpProxy, httpsProxy, noProxy: proxy('NO_PROXY'), certificateFiles };
}

/** The service's default data directory, which differs between root and other users. */
function defaultDataDirectory(variables: NodeJS.ProcessEnv): string {
  if (process.geteuid?.() === 0) return '/var/lib/bothost';
  const named = variables['XDG_DATA_HOME'];
  const base = named !== undefined && isAbsolute(named) ? named : join(variables['HOME'] || homedir(), '.local/share');
  return join(base, 'bothost');
}

/** A relative `XDG_CONFIG_HOME` is ignored, as the XDG Base Directory Specification requires. */
function configDirectory(variables: NodeJS.ProcessEnv): string {
  const named = variables['XDG_CONFIG_HOME'];
  return named !== undefined && isAbsolute(named) ? named : join(variables['HOME'] || homedir(), '.config');
}
