import { PassThrough } from 'node:stream';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hostileValue } from '../../test/hostile-values.ts';
import { askHidden } from './hidden-prompt.ts';

/** What somebody presses, piece by piece, before the terminal goes; answers what came of it, and what the terminal was told. */
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
  const asked = askHidden(
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

test('the answer is what was typed, blanks, tabs and all, and nothing of it is shown', async () => {
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

test('a character may come in several pieces', async () => {
  const bytes = Buffer.from('😀\r');
  expect((await press(bytes.subarray(0, 1), bytes.subarray(1, 3), bytes.subarray(3))).answer).toBe('😀');
});

test('Backspace takes back a whole character, and Ctrl-U all of them', async () => {
  expect((await press('a😀\u007f\u007f', 'xé\b', 'y\r')).answer).toBe('xy');
  expect((await press('abc\u0015d\r')).answer).toBe('d');
});

test.each([['abc\u0003'], ['\u0004']])(
  '%j is an interruption, after which the terminal shows what is typed',
  async (keys) => {
    expect(await press(keys)).toMatchObject({ error: { name: 'Interrupted' }, modes: [true, false] });
  },
);

test.each([
  ['one\rtwo\r', 'several lines'],
  ['one\n\ntwo', 'several lines'],
  ['a\u001b[D', 'not text'],
  ['a\0b', 'not text'],
])('%j would not be what was meant', async (keys, message) => {
  const { error, modes, shown } = await press(keys, 'the rest of the paste\r');
  expect(error).toMatchObject({ name: 'Failure', message: expect.stringContaining(message) });
  expect({ modes, shown }).toEqual({ modes: [true, false], shown: 'Value of A (not shown): \n' });
});

test.each([
  [['-----BEGIN KEY-----\n', 'AAAA\n-----END KEY-----\n']],
  [['-----BEGIN KEY-----\r', '\n', 'AAAA\r\n']],
  [['one\r', 'two']],
])('a paste of several lines is refused where its first piece ends with a line, too: %j', async (pieces) => {
  const { answer, error, shown } = await press(...pieces);
  expect(answer).toBeNull();
  expect(error).toMatchObject({ name: 'Failure', message: expect.stringContaining('several lines') });
  expect(shown).toBe('Value of A (not shown): \n');
});

test('the answer is given when no more comes, without an end of the terminal', async () => {
  const input = new PassThrough();
  const terminal = Object.assign(input, { setRawMode: () => terminal as unknown as NodeJS.ReadStream });
  const { signal } = new AbortController();
  const asked = askHidden(terminal as unknown as NodeJS.ReadStream, () => {}, signal, 'Value of A');
  input.write('one\r');
  input.write('\n');
  expect(await asked).toBe('one');
});

test('a terminal that goes before the answer is an interruption', async () => {
  expect(await press('half')).toMatchObject({ answer: null, error: { name: 'Interrupted' } });
});

test('what is not UTF-8 is no answer', async () => {
  expect((await press(Buffer.from([0x61, 0xff, 0x0d]))).error).toMatchObject({ name: 'Failure' });
});

test('an interruption from elsewhere ends the question, too', async () => {
  const interruption = new AbortController();
  const input = new PassThrough();
  const terminal = Object.assign(input, { setRawMode: () => terminal as unknown as NodeJS.ReadStream });
  const asked = askHidden(terminal as unknown as NodeJS.ReadStream, () => {}, interruption.signal, 'Value of A');
  interruption.abort();
  await expect(asked).rejects.toMatchObject({ name: 'Interrupted' });
});

test('an interruption that came before the question asks nothing', async () => {
  const terminal = new PassThrough() as unknown as NodeJS.ReadStream;
  const questions: string[] = [];
  const asked = askHidden(terminal, (text) => questions.push(text), AbortSignal.abort(), 'Value of A');
  await expect(asked).rejects.toMatchObject({ name: 'Interrupted' });
  expect(questions).toEqual([]);
});

test('any line is the answer byte by byte, in whatever pieces its bytes come', async () => {
  // Every other control character is a key that is no text.
  const line = hostileValue.filter((value) => !/(?!\t)\p{Cc}/u.test(value));
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
