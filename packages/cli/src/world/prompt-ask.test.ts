import { expect, test } from 'vitest';
import { promptAsk } from './prompt-ask.ts';

test('an interruption that came before a question is not forgotten by it', async () => {
  const ask = promptAsk(AbortSignal.abort());
  const choice = { value: 'a', label: 'A' };
  for (const asked of [
    ask.confirm('Delete it?', true),
    ask.text('Name', 'a', () => null),
    ask.choose('Which?', [choice], 'a'),
    ask.chooseMany('Which?', [choice], ['a']),
  ]) {
    await expect(asked).rejects.toMatchObject({ name: 'Interrupted' });
  }
});
