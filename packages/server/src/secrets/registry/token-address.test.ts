import { normalizeRegistryHost } from '@bothost/contract';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createImageRegistryConnectionPolicy, createRegistryUrl } from './registry-policy.ts';
import { parseTokenAddress } from './token-address.ts';

const policy = createImageRegistryConnectionPolicy([], [['registry.corp', 'gitlab.corp']]);
function addressFor(
  registry: string,
  realm: string,
  more: Record<string, string> = {},
  repository: string | null = null,
) {
  const named = normalizeRegistryHost(registry);
  const challenge = { scheme: 'bearer', parameters: new Map(Object.entries({ realm, ...more })) };
  const address = parseTokenAddress(
    challenge,
    createRegistryUrl('host' in named ? named.host : ''),
    repository,
    policy,
  );
  return address instanceof URL ? address.href : address;
}

it.each([
  ['ghcr.io', 'https://ghcr.io/token'],
  ['ghcr.io', 'https://GHCR.io:443/token'],
  ['docker.io', 'https://auth.docker.io/token'],
  ['registry.gitlab.com', 'https://gitlab.com/jwt/auth'],
  ['registry.corp', 'https://gitlab.corp/jwt/auth'],
  ['http://plain.corp:5000', 'http://plain.corp:5000/token'],
])('parseTokenAddress with the registry %s accepts the token address %s', (registry, realm) =>
  expect(addressFor(registry, realm)).toBe(new URL(realm).href),
);

it.each([
  ['ghcr.io', 'http://ghcr.io/token'],
  ['ghcr.io', 'https://evil.io/token'],
  ['ghcr.io', 'https://ghcr.io.evil.io/token'],
  ['ghcr.io', 'https://token.ghcr.io/'],
  ['ghcr.io', 'https://ghcr.io:8443/token'],
  ['ghcr.io', 'https://user:pass@ghcr.io/token'],
  ['ghcr.io', 'https://ghcr.io@evil.io/token'],
  ['ghcr.io', 'https://evil.io\\@ghcr.io/token'],
  ['ghcr.io', 'https://auth.docker.io/token'],
  ['registry.gitlab.com', 'https://auth.docker.io/token'],
  ['docker.io', 'http://auth.docker.io/token'],
  ['registry.corp:5000', 'https://gitlab.corp/jwt/auth'],
  ['http://plain.corp:5000', 'http://evil.corp:5000/token'],
  ['ghcr.io', 'file:///etc/passwd'],
  ['ghcr.io', 'javascript:alert(1)'],
  ['ghcr.io', '/token'],
  ['ghcr.io', '//ghcr.io/token'],
  ['ghcr.io', ''],
])('parseTokenAddress with the registry %s rejects the token address %s', (registry, realm) => {
  const address = addressFor(registry, realm);
  expect(address).toHaveProperty('problem');
  expect(JSON.stringify(address)).not.toMatch(/[[\]]/);
});

it('parseTokenAddress encodes service and scope in the URL', () => {
  const address = addressFor(
    'ghcr.io',
    'https://ghcr.io/token?a=1&scope=mine#x',
    { service: 'a&scope=*#é' },
    'team/app',
  );
  expect(address).toBe('https://ghcr.io/token?a=1&scope=repository%3Ateam%2Fapp%3Apull&service=a%26scope%3D*%23%C3%A9');
});

it('parseTokenAddress never returns a URL of another origin', () => {
  const text = fc.oneof(
    fc.webUrl({ validSchemes: ['https', 'http', 'ftp'] }),
    fc.string({ unit: 'binary', maxLength: 40 }).map((tail) => `https://ghcr.io${tail}`),
    fc.string({ unit: 'binary', maxLength: 60 }),
  );
  fc.assert(
    fc.property(text, (realm) => {
      const address = addressFor('ghcr.io', realm);
      if (typeof address === 'string') expect(address.startsWith('https://ghcr.io/')).toBe(true);
      else expect(address.problem).not.toMatch(/[[\]]/);
    }),
    { numRuns: 10_000 },
  );
});

it('parseTokenAddress rejects a token server on another host than the registry, and names the setting that allows it', () => {
  expect(addressFor('reg.corp:5000', 'https://login.corp/token')).toMatchObject({
    problem: expect.stringContaining('reg.corp:5000=login.corp in BOTHOST_REGISTRY_TOKEN_HOSTS'),
  });
});
