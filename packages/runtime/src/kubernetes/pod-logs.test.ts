import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseLogTimestamp } from '../output/log-timestamp.ts';
import { createSpoolClock, openOutputSpool } from '../output/output-spool.ts';
import { copyPodLogs } from './pod-logs.ts';

const mebibyte = 1024 ** 2;
const timestamp = '2026-01-01T00:00:00.000001Z';
const at = parseLogTimestamp(timestamp);

const copy = (chunks: Iterable<Buffer>, spool: Parameters<typeof copyPodLogs>[2]) =>
  copyPodLogs({ readLog: async () => Readable.from(chunks) }, 'a', spool, false, new AbortController().signal);

/** A spool that keeps what is appended. */
function createRecorder() {
  const pieces: { readonly at: number; readonly bytes: Buffer }[] = [];
  const append = (at: number, bytes: Uint8Array) => void pieces.push({ at, bytes: Buffer.from(bytes) });
  return { pieces, spool: { recordedAt: () => 0, append } };
}

describe('copyPodLogs', () => {
  it('copies lines that are split across chunks, and a last one without its line break', async () => {
    const { pieces, spool } = createRecorder();
    const later = '2026-01-01T00:00:01.5Z';
    await copy([`${timestamp} fir`, `st\n${later} `, 'second\n', `${later} last`].map(Buffer.from), spool);
    expect(pieces.map((piece) => [piece.at, piece.bytes.toString()])).toEqual([
      [at, 'first\n'],
      [parseLogTimestamp(later), 'second\n'],
      [parseLogTimestamp(later), 'last'],
    ]);
  });

  it('copies a line of 20 MB while it is read, in pieces of at most 64 KiB with the timestamp of the line', async () => {
    const { pieces, spool } = createRecorder();
    let maxUncopiedBytes = 0;
    function* writeLine() {
      yield Buffer.from(`${timestamp} `);
      for (let written = 0; written < 20 * mebibyte; written += 10_000) {
        const copied = pieces.reduce((sum, { bytes }) => sum + bytes.length, 0);
        maxUncopiedBytes = Math.max(maxUncopiedBytes, written - copied);
        yield Buffer.alloc(10_000, 'x');
      }
      yield Buffer.from('\n');
    }
    await copy(writeLine(), spool);
    expect(maxUncopiedBytes).toBeLessThan(mebibyte);
    expect(Math.max(...pieces.map(({ bytes }) => bytes.length))).toBeLessThanOrEqual(64 * 1024);
    expect(new Set(pieces.map((piece) => piece.at))).toEqual(new Set([at]));
    const bytes = Buffer.concat(pieces.map((piece) => piece.bytes));
    expect(bytes.length).toBeGreaterThan(20 * mebibyte);
    expect(bytes.indexOf('\n')).toBe(bytes.length - 1);
    expect(bytes.includes('2026')).toBe(false);
  });

  it('applies the limit of the spool to output without line breaks', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'bothost-logs-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    let dropped = 0;
    const spool = openOutputSpool({
      directory,
      isFinished: false,
      limitBytes: mebibyte,
      searchPath: '/usr/bin:/bin',
      clock: createSpoolClock(() => new Date()),
      onDropped: (bytes) => {
        dropped = bytes;
      },
      onError: (error) => expect.unreachable(String(error)),
    });
    onTestFinished(() => spool.close());
    await copy([Buffer.from(`${timestamp} `), ...Array<Buffer>(20).fill(Buffer.alloc(mebibyte, 'x'))], spool);
    spool.poll();
    expect(spool.recordedAt()).toBe(at);
    await expect.poll(() => dropped).toBeGreaterThan(0);
  });
});
