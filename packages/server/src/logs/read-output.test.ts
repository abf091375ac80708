import { open, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogLevel } from '@bothost/contract';
import { expect, it, onTestFinished } from 'vitest';
import { createTestDirectory } from '../../../runtime/test/test-directory.ts';
import type { LogPosition } from './position.ts';
import { readOutput } from './read-output.ts';

/** An output of several windows, with entries of several lines and a mark within each. */
async function openOutput() {
  const directory = await createTestDirectory();
  let text = '';
  const marks: { at: number; end: number; unattended: boolean }[] = [];
  for (let number = 0; number < 4_000; number++) {
    text += `ERROR:bot:number ${number}\nTraceback (most recent call last):\n  File "bot.py", line ${number}\n`;
    marks.push({ at: number * 1000 + 1, end: text.length, unattended: false });
    text += `KeyError: ${number}\nprinted ${number}\n`;
    marks.push({ at: number * 1000 + 2, end: text.length, unattended: false });
  }
  const path = join(directory, 'output');
  await writeFile(path, text);
  const handle = await open(path);
  onTestFinished(() => handle.close());
  return { handle, file: { path, base: 0, marks, dropped: [], endedAt: 10_000_000 } };
}

it.each(['asc', 'desc'] as const)(
  'readOutput returns each line with the level of its entry in the order %s, from any position and time',
  async (order) => {
    const source = await openOutput();
    const read = async (level: LogLevel | undefined, after: LogPosition | null, from: number, to: number) => {
      const request = { order, filter: { text: undefined, level }, mask: null, after, from, to };
      const found: { position: LogPosition; level: string | null; log: string }[] = [];
      for await (const batch of readOutput('one', source, request, () => {})) {
        for (const { position, decode } of batch) {
          const line = decode?.();
          if (line !== undefined) found.push({ position, level: line.level, log: line.log });
        }
      }
      return found;
    };
    const whole = await read(undefined, null, 0, 2 ** 53);
    expect(whole).toHaveLength(20_000);
    expect(whole.filter(({ log, level }) => (log.startsWith('printed') ? level !== null : level !== 'ERROR'))).toEqual(
      [],
    );
    expect(await read('ERROR', null, 0, 2 ** 53)).toEqual(whole.filter(({ level }) => level !== null));
    for (const index of [1, 3, 10_002, 10_003]) {
      expect(await read(undefined, whole[index]?.position ?? null, 0, 2 ** 53)).toEqual(whole.slice(index + 1));
    }
    const expected = whole.filter(({ position: { at } }) => at >= 2_000_002 && at < 3_000_002);
    expect(await read(undefined, null, 2_000_002, 3_000_002)).toEqual(expected);
    expect(expected[0]?.log).toBe(order === 'asc' ? 'KeyError: 2000' : `  File "bot.py", line 3000`);
  },
);
