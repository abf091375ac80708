import { expect, test } from 'vitest';
import { describeUsage, getEndReasonName, getStageName } from './words.ts';

test('describeUsage names the amounts that are not zero, with their units', () => {
  expect(describeUsage({ inputTokens: 1_812, outputTokens: 34, cacheReadTokens: 0 })).toBe(
    '1,812 input tokens, 34 output tokens',
  );
  expect(describeUsage({ audioMs: 2_450 })).toBe('2.5 s of audio');
  expect(describeUsage({})).toBe('Nothing');
});

test('a stage and a reason that the page does not know are shown as the words of the bot', () => {
  expect([getStageName('llm'), getStageName('smart_filter')]).toEqual(['Model', 'Smart filter']);
  expect([getEndReasonName('client-disconnected'), getEndReasonName('voicemail-detected')]).toEqual([
    'The caller left',
    'Voicemail detected',
  ]);
});
