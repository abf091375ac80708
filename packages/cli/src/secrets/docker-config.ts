import { getObjectFields, isBasicAuthCredentials, normalizeRegistryHost } from '@bothost/contract';
import { Failure } from '../failure.ts';

/**
 * Reads the Base64 credentials for a registry from docker's `config.json`. Credential stores and tokens are not supported and
 * throw a `Failure`. `host` is the canonical name of the registry; `source` is the name of the file in messages.
 */
export function readDockerConfig(text: string, source: string, host: string): string {
  const config = parse(text, source);
  const matches = Object.entries(getObjectFields(config['auths'])).filter(([key]) => isRegistry(key, host));
  // Several names mean Docker Hub, so several entries can match. If one entry has exactly the canonical name, use only that
  // entry.
  const entries = matches.some(([key]) => key === host) ? matches.filter(([key]) => key === host) : matches;
  const auths = new Set(
    entries.map(([, entry]) => getObjectFields(entry)['auth']).filter((auth) => auth && auth !== ''),
  );
  if (auths.size > 1) throw credentialsFailure(`${source} has several credentials for ${host}.`);
  const [auth] = auths;
  const others = entries.map(([, entry]) => getObjectFields(entry));
  if (others.some((entry) => entry['identitytoken'] || entry['registrytoken'])) {
    throw credentialsFailure(`${source} has a token for ${host}, which works only with docker itself.`);
  }
  if (typeof auth === 'string') {
    if (isBasicAuthCredentials(auth)) return auth;
    throw credentialsFailure(`In ${source}, the "auth" field for ${host} is not username:password in Base64.`);
  }
  const [, helper] =
    Object.entries(getObjectFields(config['credHelpers'])).find(([key]) => isRegistry(key, host)) ?? [];
  const store = typeof helper === 'string' ? helper : config['credsStore'];
  if (typeof store === 'string' && store !== '') {
    throw credentialsFailure(`${source} refers to docker-credential-${store}, which botcli does not support.`);
  }
  if (others.length > 0) throw credentialsFailure(`In ${source}, the entry for ${host} has no "auth" field.`);
  throw credentialsFailure(`${source} has no entry for ${host}.`);
}

function isRegistry(key: string, host: string): boolean {
  const named = normalizeRegistryHost(key);
  return 'host' in named && named.host === host;
}

function parse(text: string, source: string): Readonly<Record<string, unknown>> {
  try {
    return getObjectFields(JSON.parse(text));
  } catch {
    // Include neither the parser's message nor its error: both quote the file, which contains credentials.
    throw credentialsFailure(`${source} is not JSON.`);
  }
}

function credentialsFailure(problem: string): Failure {
  const hint = 'Pass the credentials with --username and --password-stdin.';
  return new Failure('credentials-refused', `Cannot read the credentials. ${problem}`, hint);
}
