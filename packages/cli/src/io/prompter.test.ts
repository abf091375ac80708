import { expect, test } from 'vitest';
import { createPrompter } from './prompter.ts';

test('rejects every prompt with an InterruptedError if the signal is already aborted', async () => {
  const ask = createPrompter(AbortSignal.abort());
  const choice = { value: 'a', label: 'A' };
  for (const asked of [
    ask.confirm('Delete it?', true),
    ask.text('Name', 'a', () => null),
    ask.select('Which?', [choice], 'a'),
    ask.multiselect('Which?', [choice], ['a']),
  ]) {
    await expect(asked).rejects.toMatchObject({ name: 'InterruptedError' });
  }
});
