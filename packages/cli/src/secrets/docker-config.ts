import { canonicalRegistry, isEncodedCredentials } from '@bothost/contract';
import { Failure } from '../failure.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the Base64 credentials of a registry (by its canonical name) from docker's `config.json`. Only `auth` is supported;
 * credential stores and tokens throw a `Failure`. `source` is the name of the file in messages.
 */
export function readDockerConfig(text: string, source: string, host: string): string {
  const config = parse(text, source);
  const matches = Object.entries(toFields(config['auths'])).filter(([key]) => isRegistry(key, host));
  // Docker Hub has entries for other purposes below its own name.
  const entries = matches.some(([key]) => key === host) ? matches.filter(([key]) => key === host) : matches;
  const auths = new Set(entries.map(([, entry]) => toFields(entry)['auth']).filter((auth) => auth && auth !== ''));
  if (auths.size > 1) throw configFailure(source, `holds several credentials for ${host}.`);
  const [auth] = auths;
  const others = entries.map(([, entry]) => toFields(entry));
  if (others.some((entry) => entry['identitytoken'] || entry['registrytoken'])) {
    throw configFailure(source, `holds a token for ${host}, which works only with that program.`);
  }
  if (typeof auth === 'string') {
    if (isEncodedCredentials(auth)) return auth;
    throw configFailure(source, `holds an auth for ${host} that is not username:password in Base64.`);
  }
  const [, helper] = Object.entries(toFields(config['credHelpers'])).find(([key]) => isRegistry(key, host)) ?? [];
  const store = typeof helper === 'string' ? helper : config['credsStore'];
  if (typeof store === 'string' && store !== '') {
    throw configFailure(
      source,
      `keeps the credentials in the store of docker-credential-${store}, which botcli does not read.`,
    );
  }
  if (others.length > 0) throw configFailure(source, `holds no auth for ${host}.`);
  throw configFailure(source, `has no entry for ${host}.`);
}

function isRegistry(key: string, host: string): boolean {
  const named = canonicalRegistry(key);
  return 'host' in named && named.host === host;
}

function parse(text: string, source: string): Fields {
  try {
    return toFields(JSON.parse(text));
  } catch {
    // The parser's message quotes the text, which contains credentials.
    throw configFailure(source, 'is not JSON.');
  }
}

function toFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function configFailure(source: string, message: string): Failure {
  const hint = 'Pass the credentials with --username and --password-stdin.';
  return new Failure('credentials-refused', `Cannot read the credentials: ${source} ${message}`, hint);
}
