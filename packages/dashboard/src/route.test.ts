import { expect, test } from 'vitest';
import { routeOf, talkPath } from './route.ts';

test('routeOf returns the page of a path and decodes agent names', () => {
  expect(routeOf('/')).toEqual({ name: 'start' });
  expect(routeOf(talkPath('my bot/1'))).toEqual({ name: 'talk', agent: 'my bot/1' });
  expect(routeOf('/talk/%E0%A4%A')).toEqual({ name: 'talk', agent: '%E0%A4%A' });
  expect(routeOf('/talk')).toEqual({ name: 'unknown', path: '/talk' });
});
