import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { maxOutputTailBytes } from '../../src/runtime.ts';
import {
  evaluateCodeThatMayExit,
  evaluateInInstance,
  openRuntimeFixture,
  type RuntimeSetup,
  waitForEvent,
} from './fixture.ts';
import { decodeOutputLines, readOutput, readOutputSnapshot, waitForOutputLines } from './read-output.ts';

export function defineOutputTests(setup: RuntimeSetup): void {
  describe('the output of a bot', () => {
    it('contains complete lines of both streams in order, and an incomplete last line after the exit', async () => {
      const { start, runtime } = await openRuntimeFixture(setup);
      const address = await start('lines');
      await evaluateInInstance(address, 'console.log("one")');
      // A Docker engine reads each stream by itself, so lines that are written at the same time have no order.
      await waitForOutputLines(runtime(), 'lines', 1);
      await evaluateInInstance(address, 'console.error("zwei ä"); process.stdout.write("un")');
      const complete = await waitForOutputLines(runtime(), 'lines', 2);
      expect(complete.map(({ text }) => text)).toEqual(['one', 'zwei ä']);
      await evaluateInInstance(address, 'process.stdout.write("finished\\n\\nlast, without a break")');
      await evaluateCodeThatMayExit(address, 'process.exit(0)');
      const lines = await waitForOutputLines(runtime(), 'lines', Number.POSITIVE_INFINITY);
      expect(lines.map(({ text }) => text)).toEqual(['one', 'zwei ä', 'unfinished', '', 'last, without a break']);
      expect(lines.every(({ unattended }) => !unattended)).toBe(true);
    });

    it('has a timestamp between a mark made before the write and a mark made after the write', async () => {
      const { start, runtime } = await openRuntimeFixture(setup);
      const address = await start('timed');
      const before = await runtime().outputs.mark();
      await evaluateInInstance(address, 'console.log("now")');
      const [line] = await waitForOutputLines(runtime(), 'timed', 1);
      const after = await runtime().outputs.mark();
      expect(line?.at).toBeGreaterThan(before);
      expect(line?.at).toBeLessThan(after);
    });

    it('wakes waiting readers on new output, on an abort and when the instance ends', async () => {
      const { start, runtime } = await openRuntimeFixture(setup);
      const address = await start('quiet');
      const since = await runtime().outputs.mark();
      const waiting = new AbortController();
      const never = runtime().outputs.changed(['quiet', 'unknown'], since, waiting.signal);
      waiting.abort();
      await never;
      const more = runtime().outputs.changed(['quiet'], since, new AbortController().signal);
      await evaluateInInstance(address, 'console.log("more")');
      await more;
      await runtime().outputs.changed(['quiet'], since, new AbortController().signal);
      const ended = runtime().outputs.changed(['quiet'], await runtime().outputs.mark(), new AbortController().signal);
      await runtime().stop('quiet', 0);
      await ended;
    });

    it('keeps its first and last part, and records the gap between them, if a bot writes more than the limit', async () => {
      const { start, runtime } = await openRuntimeFixture(setup);
      const address = await start('flood');
      const dropped = waitForEvent(runtime(), 'noticed', 'flood', ({ notice }) => notice === 'output-dropped');
      await evaluateInInstance(address, 'console.log("before")');
      await evaluateInInstance(
        address,
        `globalThis.flood = setInterval(() => process.stdout.write(('x'.repeat(99) + '\\n').repeat(1000)), 50); null`,
      );
      await dropped;
      await evaluateInInstance(address, 'clearInterval(globalThis.flood); null');
      await evaluateInInstance(address, 'console.log("after")');
      await expect.poll(() => runtime().outputs.tail('flood')).toMatch(/after\n$/);
      const { file, lines = [] } = (await readOutputSnapshot(runtime(), 'flood')) ?? {};
      expect(lines.at(0)?.text).toBe('before');
      expect(lines.at(-1)?.text).toBe('after');
      expect(new Set(lines.slice(1, -1).map(({ text }) => text.length))).toEqual(new Set([99]));
      const kept = lines.reduce((sum, { text }) => sum + text.length + 1, 0);
      const droppedBytes = file?.dropped.reduce((sum, { from, to }) => sum + to - from, 0) ?? 0;
      expect(kept + droppedBytes).toBe(file?.marks.at(-1)?.end);
      const bytesOnDisk = async () => (await stat(file?.path ?? '')).blocks * 512;
      await expect.poll(bytesOnDisk).toBeLessThan((file?.marks.at(-1)?.end ?? 0) - droppedBytes / 2);
      await evaluateCodeThatMayExit(address, 'process.exit(0)');
      expect((await waitForEvent(runtime(), 'exited', 'flood')).exit.tail).toMatch(/after\n$/);
    });

    it('has a tail of at most 4 KiB, in whole lines', async () => {
      const { start, runtime } = await openRuntimeFixture(setup);
      await evaluateCodeThatMayExit(
        await start('wordy'),
        `for (let i = 0; i < 1000; i++) console.log('line ' + i); process.exit(1)`,
      );
      const { tail } = (await waitForEvent(runtime(), 'exited', 'wordy')).exit;
      expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(maxOutputTailBytes);
      expect(Buffer.byteLength(tail)).toBeGreaterThan(4000);
      expect(tail).toMatch(/^line \d+\n/);
      expect(tail).toMatch(/line 999\n$/);
    });

    it('has a tail that splits no UTF-8 character of a long line and keeps invalid bytes', async () => {
      const { start, runtime } = await openRuntimeFixture(setup);
      for (const [name, middle] of [
        ['characters', `'\u{1f99c}'.repeat(1500)`],
        ['no-characters', `Buffer.alloc(3000, 0x80)`],
      ] as const) {
        const address = await start(name);
        const written = `Buffer.concat([Buffer.from('start'), Buffer.from(${middle}), Buffer.alloc(2001, 'a')])`;
        await evaluateCodeThatMayExit(address, `require('node:fs').writeSync(1, ${written}); process.exit(1)`);
        const { tail } = (await waitForEvent(runtime(), 'exited', name)).exit;
        expect(tail).not.toContain('start');
        // The last line is longer than `maxOutputTailBytes`, so the tail is cut within this line. Cutting between UTF-8
        // characters may make the tail up to 3 bytes shorter than `maxOutputTailBytes`.
        expect(Buffer.byteLength(tail)).toBeGreaterThanOrEqual(maxOutputTailBytes - 3);
      }
    });

    it('is moved to a given directory by `release` after the instance has ended, and is not deleted by `forget`', async () => {
      const { start, runtime, dataDirectory, restartServer } = await openRuntimeFixture(setup);
      const address = await start('handed');
      const directory = join(dataDirectory, 'kept/handed');
      await expect(runtime().outputs.release('handed', directory)).rejects.toThrow(/still running/);
      await evaluateInInstance(address, 'console.log("one")');
      await evaluateCodeThatMayExit(address, 'console.log("two"); process.exit(0)');
      await waitForEvent(runtime(), 'exited', 'handed');
      const before = await readOutput(runtime(), 'handed');
      await runtime().outputs.release('handed', directory);
      // Move the output to the same directory again, like a server that was killed after the move but before it recorded the
      // move.
      const next = await restartServer();
      await waitForEvent(next, 'exited', 'handed');
      await next.outputs.release('handed', directory);
      await next.forget('handed');
      expect(await next.outputs.find('handed')).toBeNull();
      const file = await next.outputs.findReleased(directory);
      expect(file).toMatchObject({ endedAt: expect.any(Number) });
      const lines = file === null ? [] : await decodeOutputLines(file);
      expect(lines.map(({ text }) => text)).toEqual(['one', 'two']);
      expect(lines).toEqual(before);
      expect(await next.outputs.findReleased(join(dataDirectory, 'kept/other'))).toBeNull();
    });
  });
}
