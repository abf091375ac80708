import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hostileValueArbitrary } from '../../test/hostile-values.ts';
import { promptHidden } from './hidden-prompt.ts';

/**
 * Types `pieces` at a hidden prompt and closes the terminal. Returns the answer or the error, the printed text, and each change
 * of the terminal's raw mode.
 */
async function press(...pieces: readonly (string | Uint8Array)[]) {
  const input = new PassThrough();
  const modes: boolean[] = [];
  let shown = '';
  const terminal = Object.assign(input, {
    setRawMode: (isRaw: boolean) => {
      modes.push(isRaw);
      return terminal as unknown as NodeJS.ReadStream;
    },
  });
  const asked = promptHidden(
    terminal as unknown as NodeJS.ReadStream,
    (text) => {
      shown += text;
    },
    new AbortController().signal,
    'Value of A',
  );
  for (const piece of pieces) input.write(piece);
  input.end();
  const [outcome] = await Promise.allSettled([asked]);
  const answer = outcome.status === 'fulfilled' ? outcome.value : null;
  const error: unknown = outcome.status === 'fulfilled' ? null : outcome.reason;
  return { modes, shown, answer, error };
}

test('returns the typed text with all its white space, and does not show the text', async () => {
  const answer = ' a\tb "é" 😀\u00a0 ';
  expect(await press(answer, '\r')).toEqual({
    answer,
    error: null,
    modes: [true, false],
    shown: 'Value of A (not shown): \n',
  });
  expect((await press('pasted\r\n')).answer).toBe('pasted');
  expect((await press('\r')).answer).toBe('');
});

test('deletes one character with Backspace and the whole line with Ctrl-U', async () => {
  expect((await press('a😀\u007f\u007f', 'xé\b', 'y\r')).answer).toBe('xy');
  expect((await press('abc\u0015d\r')).answer).toBe('d');
});

test.each([['abc\u0003'], ['\u0004']])(
  'rejects with an InterruptedError after the input %j and restores echo',
  async (keys) => {
    expect(await press(keys)).toMatchObject({ error: { name: 'InterruptedError' }, modes: [true, false] });
  },
);

test.each([
  ['one\rtwo\r', 'several lines'],
  ['one\n\ntwo', 'several lines'],
  ['a\u001b[D', 'not text'],
  ['a\0b', 'not text'],
])('rejects the input %j, which contains several lines or a key that is not text', async (keys, message) => {
  const { error, modes, shown } = await press(keys, 'the rest of the paste\r');
  expect(error).toMatchObject({ name: 'Failure', message: expect.stringContaining(message) });
  expect({ modes, shown }).toEqual({ modes: [true, false], shown: 'Value of A (not shown): \n' });
});

test.each([
  [['-----BEGIN KEY-----\n', 'AAAA\n-----END KEY-----\n']],
  [['-----BEGIN KEY-----\r', '\n', 'AAAA\r\n']],
  [['one\r', 'two']],
])('rejects a paste of several lines that arrives line by line: %j', async (pieces) => {
  const { answer, error, shown } = await press(...pieces);
  expect(answer).toBeNull();
  expect(error).toMatchObject({ name: 'Failure', message: expect.stringContaining('several lines') });
  expect(shown).toBe('Value of A (not shown): \n');
});

test('returns a pasted line without waiting for the end of the input', async () => {
  const input = new PassThrough();
  const terminal = Object.assign(input, { setRawMode: () => terminal as unknown as NodeJS.ReadStream });
  const { signal } = new AbortController();
  const asked = promptHidden(terminal as unknown as NodeJS.ReadStream, () => {}, signal, 'Value of A');
  input.write('one\r');
  input.write('\n');
  expect(await asked).toBe('one');
});

test('rejects with an InterruptedError when the terminal closes', async () => {
  expect(await press('half')).toMatchObject({ answer: null, error: { name: 'InterruptedError' } });
});

test('rejects input that is not UTF-8', async () => {
  expect((await press(Buffer.from([0x61, 0xff, 0x0d]))).error).toMatchObject({ name: 'Failure' });
});

test('rejects with an InterruptedError when the signal is aborted', async () => {
  const interruption = new AbortController();
  const input = new PassThrough();
  const terminal = Object.assign(input, { setRawMode: () => terminal as unknown as NodeJS.ReadStream });
  const asked = promptHidden(terminal as unknown as NodeJS.ReadStream, () => {}, interruption.signal, 'Value of A');
  interruption.abort();
  await expect(asked).rejects.toMatchObject({ name: 'InterruptedError' });
});

test('does not prompt when the signal is already aborted', async () => {
  const terminal = new PassThrough() as unknown as NodeJS.ReadStream;
  const questions: string[] = [];
  const asked = promptHidden(terminal, (text) => questions.push(text), AbortSignal.abort(), 'Value of A');
  await expect(asked).rejects.toMatchObject({ name: 'InterruptedError' });
  expect(questions).toEqual([]);
});

test('returns any typed line unchanged, regardless of how the terminal splits it into chunks', async () => {
  // Exclude control characters except tab, because the prompt treats them as keys and not as text.
  const line = hostileValueArbitrary.filter((value) => !/(?!\t)\p{Cc}/u.test(value));
  const cuts = fc.array(fc.nat(40), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(line, cuts, async (value, places) => {
      const bytes = Buffer.from(`${value}\r`);
      const edges = [0, ...places.filter((at) => at < bytes.length).sort((one, other) => one - other), bytes.length];
      const pieces = edges.slice(1).map((to, index) => bytes.subarray(edges[index], to));
      const { answer } = await press(...pieces.filter(({ length }) => length > 0));
      expect(answer).toBe(value);
    }),
    { numRuns: 10_000 },
  );
}, 120_000);
