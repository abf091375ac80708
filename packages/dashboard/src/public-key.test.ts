import { expect, test } from 'vitest';
import { complaintAbout, takeKey } from './public-key.ts';

const plausible = 'pk_bootstrapkeythatisatleastthirtytwocharacterslong';

test('a key in the fragment is taken out of the address bar and kept for the tab', () => {
  const kept = new Map<string, string>();
  const shown: string[] = [];
  const places = (hash: string) => ({
    location: { hash, pathname: '/talk/parrot', search: '?a=1' },
    history: { replaceState: (_: unknown, __: string, url?: string | URL | null) => void shown.push(String(url)) },
    storage: {
      getItem: (name: string) => kept.get(name) ?? null,
      setItem: (name: string, value: string) => void kept.set(name, value),
      removeItem: (name: string) => void kept.delete(name),
    },
  });
  expect(takeKey(places(''))).toBeUndefined();
  expect(takeKey(places(`#key=${plausible}`))).toBe(plausible);
  expect(shown).toEqual(['/talk/parrot?a=1']);
  expect(takeKey(places(''))).toBe(plausible);
});

test('a key that cannot be right is told apart without asking the service', () => {
  expect(complaintAbout(plausible)).toBeUndefined();
  expect(complaintAbout('')).toMatch(/Enter/);
  expect(complaintAbout(plausible.replace('pk_', 'sk_'))).toMatch(/secret/);
  expect(complaintAbout('hunter2')).toMatch(/begins with pk_/);
  expect(complaintAbout(`pk_${'x'.repeat(49)}`)).toMatch(/mistyped/);
});
