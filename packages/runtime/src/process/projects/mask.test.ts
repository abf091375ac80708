import { expect, it } from 'vitest';
import { createMask } from './mask.ts';

it.each([
  [
    'Looking in indexes: https://someone:hunter2@pypi.example.com/simple',
    'Looking in indexes: https://***@pypi.example.com/simple',
  ],
  ['GET http://token@host/a and git+ssh://git@host/b', 'GET http://***@host/a and git+ssh://***@host/b'],
  [
    'mail me@example.com about https://example.com/@scope/name',
    'mail me@example.com about https://example.com/@scope/name',
  ],
])('takes names and passwords out of addresses: %s', (line, masked) => {
  expect(createMask({})(line)).toBe(masked);
});

it('takes out what was passed on as a secret, wherever it stands', () => {
  const mask = createMask({
    NPM_TOKEN: 'npm_abcdef',
    PIP_INDEX_URL: 'https://reader:p%40ssword@pypi.example.com/simple',
    HTTP_PROXY: 'http://proxy:3128',
    SHORT_TOKEN: 'a',
  });
  expect(mask('using npm_abcdef, p%40ssword and p@ssword at a proxy')).toBe('using ***, *** and *** at a proxy');
});
