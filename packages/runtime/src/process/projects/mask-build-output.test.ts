import { expect, it } from 'vitest';
import { createBuildOutputMask } from './mask-build-output.ts';

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
])('masks user names and passwords in URLs: %s', (line, masked) => {
  expect(createBuildOutputMask({})(line)).toBe(masked);
});

it('masks values of secret variables, and passwords in URLs that any variable contains', () => {
  const mask = createBuildOutputMask({
    NPM_TOKEN: 'npm_abcdef',
    PIP_INDEX_URL: 'https://reader:p%40ssword@pypi.example.com/simple',
    HTTP_PROXY: 'http://proxy:3128',
    SHORT_TOKEN: 'a',
  });
  expect(mask('using npm_abcdef, p%40ssword and p@ssword at a proxy')).toBe('using ***, *** and *** at a proxy');
});
