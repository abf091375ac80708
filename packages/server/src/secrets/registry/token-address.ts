import { formatHostAndPort } from '../../http-client/allowed-hosts.ts';
import type { AuthenticationChallenge } from './challenge.ts';
import type { ImageRegistryConnectionPolicy } from './registry-policy.ts';

/** The registry chooses this URL, so it must have the registry's origin, or one that the policy allows for it. */
export function parseTokenAddress(
  challenge: AuthenticationChallenge,
  registry: URL,
  repository: string | null,
  policy: Pick<ImageRegistryConnectionPolicy, 'tokenOrigins'>,
): URL | { readonly problem: string } {
  const realm = challenge.parameters.get('realm') ?? '';
  if (!URL.canParse(realm)) return { problem: 'The registry does not name a token address.' };
  const url = new URL(realm);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && registry.protocol === 'http:')) {
    return { problem: 'The registry names a token address without TLS. The credentials were not sent.' };
  }
  if (url.username !== '' || url.password !== '') {
    return { problem: 'The registry names a token address with a user name in it. The credentials were not sent.' };
  }
  const others = policy.tokenOrigins.get(formatHostAndPort(registry));
  if (url.origin !== registry.origin && others?.has(url.origin) !== true) {
    const where = /^[a-z0-9.-]{1,253}$/.test(url.hostname) ? url.host : 'elsewhere';
    const pair = `${formatHostAndPort(registry).replace(/:443$/, '')}=${url.host}`;
    return {
      problem:
        `The registry names a token address on another host (${where}). The credentials were not sent.` +
        (where === 'elsewhere'
          ? ''
          : ` If this is the right host, ask the operator to list ${pair} in BOTHOST_REGISTRY_TOKEN_HOSTS.`),
    };
  }
  url.hash = '';
  const service = challenge.parameters.get('service');
  if (service !== undefined) url.searchParams.set('service', service);
  if (repository !== null) url.searchParams.set('scope', `repository:${repository}:pull`);
  return url;
}
