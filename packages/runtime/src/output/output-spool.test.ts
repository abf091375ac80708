import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createSpoolClock, type OutputSpool, openOutputSpool } from './output-spool.ts';

const second = 1_000_000;
/** The time of the clock, in microseconds. */
const now = 1_000 * second;

async function openSpools() {
  const directory = join(await mkdtemp(join(tmpdir(), 'bothost-spool-')), 'log');
  onTestFinished(() => rm(join(directory, '..'), { recursive: true }));
  const clock = createSpoolClock(() => new Date(now / 1000));
  const open = (isFinished = false): OutputSpool =>
    openOutputSpool({
      directory,
      isFinished,
      limitBytes: 1_000_000,
      searchPath: '/usr/bin:/bin',
      clock,
      onDropped: () => undefined,
      onError: (error) => expect.fail(String(error)),
    });
  return { directory, clock, open };
}

const read = async (spool: OutputSpool) => readFile((await spool.describe())?.path ?? '', 'utf8');

describe('an output spool', () => {
  it('has marks with the timestamps of the platform, one for output within 50 ms', async () => {
    const { open } = await openSpools();
    const spool = open();
    spool.append(10 * second, Buffer.from('a\n'));
    spool.append(10 * second + 40_000, Buffer.from('b\n'));
    spool.append(12 * second, Buffer.from('c\n'));
    const file = await spool.describe();
    expect(file?.marks).toEqual([
      { end: 4, at: 10 * second + 40_000, unattended: false },
      { end: 6, at: 12 * second, unattended: false },
    ]);
    expect(await read(spool)).toBe('a\nb\nc\n');
    spool.close();
  });

  it('gives output a later timestamp than the last one that a reader has got', async () => {
    const { open, clock } = await openSpools();
    const spool = open();
    const readUntil = clock.next();
    spool.append(now - second, Buffer.from('late\n'));
    expect((await spool.describe())?.marks).toEqual([{ end: 5, at: readUntil + 1, unattended: false }]);
    expect(clock.next()).toBeGreaterThan(readUntil + 1);
    expect(spool.recordedAt()).toBe(now - second);
    spool.close();
  });

  it('continues after the last mark in a later server process, without output that has no mark', async () => {
    const { directory, open, clock } = await openSpools();
    const first = open();
    clock.next();
    first.append(now - second, Buffer.from('one\n'));
    first.close();
    await appendFile(join(directory, 'output'), 'unmarked');
    const next = open();
    expect(next.recordedAt()).toBe(now - second);
    next.append(now, Buffer.from('two\n'));
    expect(await read(next)).toBe('one\ntwo\n');
    next.finish(now);
    next.close();
    const ended = open(true);
    const file = await ended.describe();
    expect(file?.endedAt).toBeGreaterThan(file?.marks.at(-1)?.at ?? 0);
    expect(ended.tail()).toBe('one\ntwo\n');
  });

  it('wakes readers on new output and at the end', async () => {
    const { open } = await openSpools();
    const spool = open();
    const { done } = spool.changed(0);
    spool.append(second, Buffer.from('x\n'));
    await done;
    const end = spool.changed(second);
    spool.finish(2 * second);
    await end.done;
    spool.close();
  });

  it('creates no files for an output that was finished and moved', async () => {
    const { open } = await openSpools();
    expect(await open(true).describe()).toBeNull();
  });
});
