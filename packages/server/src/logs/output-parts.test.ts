import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OutputFile } from '@bothost/runtime';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  findLineStart,
  type OutputFileHandle,
  type OutputPart,
  readOutputPartsBackward,
  readOutputPartsForward,
} from './output-parts.ts';

async function openText(text: string | Buffer, fields: Partial<OutputFile> = {}): Promise<OutputFileHandle> {
  const directory = await mkdtemp(join(tmpdir(), 'bothost-parts-'));
  const path = join(directory, 'output');
  await writeFile(path, text);
  const handle = await open(path);
  onTestFinished(async () => {
    await handle.close();
    await rm(directory, { recursive: true });
  });
  const end = (fields.base ?? 0) + Buffer.byteLength(text);
  return { handle, file: { path, base: 0, dropped: [], marks: [], endedAt: null, ...fields }, end };
}

async function collect(parts: AsyncIterable<OutputPart>): Promise<string[]> {
  const read: string[] = [];
  for await (const part of parts) {
    if (part.kind === 'gap') read.push(`gap ${part.gap.from} ${part.gap.to}`);
    else
      for (const { from, to, end } of part.lines)
        read.push(`${end} ${from} ${part.bytes.toString('latin1', from - part.from, to - part.from)}`);
  }
  return read;
}

const numbered = Array.from({ length: 40_000 }, (_, index) => `line ${index}\n`).join('');
const texts = {
  'many lines': numbered,
  'a last line without a break': `${numbered}last`,
  'endless lines': `${'x'.repeat(700_000)}\n${'ä'.repeat(400_000)}`,
  'no output': '',
  'one line break': '\n',
};

describe.each(Object.entries(texts))('readOutputPartsForward and readOutputPartsBackward of %s', (_, text) => {
  it.each([null, 1])('return equal lines in opposite orders if the end time of the output is %j', async (endedAt) => {
    const output = await openText(text, { endedAt });
    const up = await collect(readOutputPartsForward(output, 0));
    const from = endedAt === null ? await findLineStart(output, output.end) : output.end;
    expect((await collect(readOutputPartsBackward(output, from))).reverse()).toEqual(up);
    const shown = up.map((line) => line.replace(/^\w+ \d+ /s, '')).join('');
    const whole = Buffer.from(text).toString('latin1');
    if (endedAt === null) expect(whole.startsWith(shown)).toBe(true);
    else expect(shown).toBe(whole);
  });

  it('return each line once if reading starts in the middle', async () => {
    const output = await openText(text, { endedAt: 1 });
    const up = await collect(readOutputPartsForward(output, 0));
    for (const share of [0.1, 0.5, 0.77]) {
      const middle = await findLineStart(output, Math.floor(output.end * share));
      const after = await collect(readOutputPartsForward(output, middle));
      const before = await collect(readOutputPartsBackward(output, middle));
      expect([...before.reverse(), ...after]).toEqual(up);
    }
  });
});

it('readOutputPartsForward and readOutputPartsBackward return a gap in the output between the lines before and after the gap', async () => {
  const output = await openText(`one\ntwo\n${'\0'.repeat(1_000)}three\nfour`, {
    dropped: [{ from: 8, to: 1_008 }],
    endedAt: 1,
  });
  const lines = ['newline 0 one\n', 'newline 4 two\n', 'gap 8 1008', 'newline 1008 three\n', 'output 1014 four'];
  expect(await collect(readOutputPartsForward(output, 0))).toEqual(lines);
  expect((await collect(readOutputPartsBackward(output, output.end))).reverse()).toEqual(lines);
  expect(await collect(readOutputPartsForward(output, 8))).toEqual(lines.slice(2));
  expect(await collect(readOutputPartsForward(output, 1_008))).toEqual(lines.slice(3));
  expect((await collect(readOutputPartsBackward(output, 1_008))).reverse()).toEqual(lines.slice(0, 3));
  expect((await collect(readOutputPartsBackward(output, 8))).reverse()).toEqual(lines.slice(0, 2));
});

it('readOutputPartsForward and readOutputPartsBackward first return the gap of dropped output if the offset is in the gap', async () => {
  const output = await openText(`one\n${'\0'.repeat(1_000)}three\n`, { dropped: [{ from: 4, to: 1_004 }] });
  for (const offset of [5, 500, 1_003]) {
    expect(await collect(readOutputPartsForward(output, await findLineStart(output, offset)))).toEqual([
      'gap 4 1004',
      'newline 1004 three\n',
    ]);
    expect(await collect(readOutputPartsBackward(output, await findLineStart(output, offset)))).toEqual([
      'gap 4 1004',
      'newline 0 one\n',
    ]);
  }
});

it('findLineStart and readOutputPartsForward read an output whose first part was dropped', async () => {
  const output = await openText('three\nfour\n', { base: 500, dropped: [{ from: 0, to: 500 }] });
  const lines = ['gap 0 500', 'newline 500 three\n', 'newline 506 four\n'];
  expect(await collect(readOutputPartsForward(output, 0))).toEqual(lines);
  expect((await collect(readOutputPartsBackward(output, output.end))).reverse()).toEqual(lines);
});
