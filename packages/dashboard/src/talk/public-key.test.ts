import { expect, test } from 'vitest';
import { findKeyProblem, loadPublicApiKey } from './public-key.ts';

const plausible = 'pk_bootstrapkeythatisatleastthirtytwocharacterslong';

test('loadPublicApiKey removes the key from the address bar and stores it for the tab', () => {
  const stored = new Map<string, string>();
  const addresses: string[] = [];
  const page = (hash: string) => ({
    location: { hash, pathname: '/talk/parrot', search: '?a=1' },
    history: { replaceState: (_: unknown, __: string, url?: string | URL | null) => void addresses.push(String(url)) },
    storage: {
      getItem: (name: string) => stored.get(name) ?? null,
      setItem: (name: string, value: string) => void stored.set(name, value),
      removeItem: (name: string) => void stored.delete(name),
    },
  });
  expect(loadPublicApiKey(page(''))).toBeUndefined();
  expect(loadPublicApiKey(page(`#key=${plausible}`))).toBe(plausible);
  expect(addresses).toEqual(['/talk/parrot?a=1']);
  expect(loadPublicApiKey(page(''))).toBe(plausible);
});

test('findKeyProblem detects a wrong key format without a request to the service', () => {
  expect(findKeyProblem(plausible)).toBeUndefined();
  expect(findKeyProblem('')).toMatch(/Enter/);
  expect(findKeyProblem(plausible.replace('pk_', 'sk_'))).toMatch(/private/);
  expect(findKeyProblem('hunter2')).toMatch(/begins with pk_/);
  expect(findKeyProblem(`pk_${'x'.repeat(49)}`)).toMatch(/mistyped/);
});
