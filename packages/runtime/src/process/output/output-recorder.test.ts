import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createMonotonicClock } from '../../output/monotonic-clock.ts';
import { getOutputFiles, maxOutputOffsetBytes } from '../../output/output-files.ts';
import { openOutputRecorder } from './output-recorder.ts';

const limitBytes = 100_000;

function openTestOutput(parent = tmpdir()) {
  const directory = mkdtempSync(join(parent, 'bothost-output-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const files = getOutputFiles(directory);
  writeFileSync(files.output, '');
  const dropped: number[] = [];
  const output = openOutputRecorder({
    directory,
    clock: createMonotonicClock(() => new Date()),
    limitBytes: limitBytes,
    adopted: false,
    searchPath: '/usr/bin:/bin',
    onDropped: (bytes) => dropped.push(bytes),
    onError: (error) => expect.fail(String(error)),
  });
  onTestFinished(output.close);
  return { output, path: files.output, dropped };
}

it('openOutputRecorder also drops excess output that the bot writes while earlier output is being dropped', async () => {
  const { output, path } = openTestOutput();
  appendFileSync(path, `${'x'.repeat(99)}\n`.repeat(limitBytes / 50));
  output.poll();
  truncateSync(path, 2 ** 43);
  output.finish();
  const { dropped, marks } = (await output.describe()) ?? {};
  expect(marks?.at(-1)?.end).toBe(2 ** 43);
  expect(dropped).toEqual([{ from: limitBytes / 4, to: 2 ** 43 - limitBytes / 2 }]);
});

it('openOutputRecorder empties an output file that is larger than the largest supported offset, but still reports its last lines', async ({
  skip,
}) => {
  const { output, path, dropped } = openTestOutput('/dev/shm');
  const lengthen = () => execFileSync('truncate', ['--size', String(2n ** 63n - 4096n), path], { stdio: 'ignore' });
  try {
    lengthen();
  } catch {
    return skip('this file system cannot hold a file of 8 EiB; tmpfs can');
  }
  appendFileSync(path, '\nlast line\n');
  output.poll();
  expect(statSync(path).size).toBe(0);
  expect(output.tail()).toBe('last line\n');
  lengthen();
  output.finish();
  expect(dropped).toHaveLength(1);
  expect(await output.describe()).toMatchObject({
    base: maxOutputOffsetBytes,
    dropped: [{ from: 0, to: maxOutputOffsetBytes }],
    marks: [{ end: maxOutputOffsetBytes }],
  });
});
