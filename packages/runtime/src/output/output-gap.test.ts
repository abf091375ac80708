import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createTestDirectory } from '../../test/test-directory.ts';
import { selectOutputToDrop } from './output-gap.ts';

const limitBytes = 100_000;

async function gapIn(text: string, known: { from: number; to: number } | null = null, base = 0) {
  const directory = await createTestDirectory();
  const path = join(directory, 'output');
  await writeFile(path, text);
  return selectOutputToDrop({ path, base, size: text.length, gap: known, limitBytes: limitBytes });
}

const lines = (bytes: number) => `${'x'.repeat(99)}\n`.repeat(bytes / 100);

it('selectOutputToDrop returns no gap for output within the limit', async () => {
  expect(await gapIn(lines(100_000))).toBeNull();
});

it('selectOutputToDrop keeps a quarter of the limit at the beginning of the output and half of the limit at its end, in whole lines', async () => {
  expect(await gapIn(`${'y'.repeat(30)}\n${lines(100_000)}`)).toEqual({ from: 24_931, to: 50_131 });
});

it('selectOutputToDrop extends an existing gap without moving its beginning', async () => {
  const known = { from: 24_900, to: 50_000 };
  expect(await gapIn(lines(125_000), known)).toBeNull();
  expect(await gapIn(lines(126_000), known)).toEqual({ from: 24_900, to: 76_100 });
});

it('selectOutputToDrop splits a line if no line break is near the ends of the range to drop', async () => {
  expect(await gapIn('x'.repeat(110_000))).toEqual({ from: 25_000, to: 60_000 });
});

it('selectOutputToDrop ignores an earlier dropped range if the bot has truncated the output file since then', async () => {
  const gap = await gapIn(lines(110_000), { from: 24_900, to: 50_000 }, 60_000);
  expect(gap).toEqual({ from: 85_000, to: 120_100 });
});
