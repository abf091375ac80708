import { expect, test } from 'vitest';
import { shortcutKeys } from './shortcut-keys.ts';

test('shortcutKeys gives each label the first letter that no earlier label uses', () => {
  expect([...shortcutKeys(['Overview', 'Sessions', 'Settings', 'Talk', 'So'])]).toEqual([
    ['o', 'Overview'],
    ['s', 'Sessions'],
    ['e', 'Settings'],
    ['t', 'Talk'],
  ]);
});
