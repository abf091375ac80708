import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tailBytes } from '../../src/runtime.ts';
import { nextEvent, openFixture, type RuntimeSetup, tell, tellLast } from './fixture.ts';
import { linesOf, readLines, readOutput, readWhole } from './read-output.ts';

/** What a bot writes, and how it is read. */
export function describeOutput(setup: RuntimeSetup): void {
  describe('output', () => {
    it('has the lines of both streams in order as they come, and the rest when the bot ends', async () => {
      const { start, runtime } = await openFixture(setup);
      const address = await start('lines');
      await tell(address, 'console.log("one"); console.error("zwei ä"); process.stdout.write("un"); ');
      expect((await readOutput(runtime(), 'lines')).map(({ text }) => text)).toEqual(['one', 'zwei ä']);
      await tell(address, 'process.stdout.write("finished\\n\\nlast, without a break")');
      await tellLast(address, 'process.exit(0)');
      const lines = await readLines(runtime(), 'lines', Number.POSITIVE_INFINITY);
      expect(lines.map(({ text }) => text)).toEqual(['one', 'zwei ä', 'unfinished', '', 'last, without a break']);
      expect(lines.every(({ unattended }) => !unattended)).toBe(true);
    });

    it('is seen with a time between the looks before and after it, whoever asks', async () => {
      const { start, runtime } = await openFixture(setup);
      const address = await start('timed');
      const before = runtime().outputs.look();
      await tell(address, 'console.log("now")');
      const after = runtime().outputs.look();
      const [line] = await readOutput(runtime(), 'timed');
      expect(line?.at).toBeGreaterThan(before);
      expect(line?.at).toBeLessThan(after);
    });

    it('wakes who waits for more, and who waits no longer', async () => {
      const { start, runtime } = await openFixture(setup);
      const address = await start('quiet');
      const since = runtime().outputs.look();
      const waiting = new AbortController();
      const never = runtime().outputs.changed(['quiet', 'unknown'], since, waiting.signal);
      waiting.abort();
      await never;
      const more = runtime().outputs.changed(['quiet'], since, new AbortController().signal);
      await tell(address, 'console.log("more")');
      await more;
      await runtime().outputs.changed(['quiet'], since, new AbortController().signal);
      const ended = runtime().outputs.changed(['quiet'], runtime().outputs.look(), new AbortController().signal);
      await runtime().stop('quiet', 0);
      await ended;
    });

    it('is bounded for a bot that floods: its first and its last part stay, and the gap is known', async () => {
      const { start, runtime } = await openFixture(setup);
      const address = await start('flood');
      const dropped = nextEvent(runtime(), 'noticed', 'flood', ({ notice }) => notice === 'output-dropped');
      await tell(address, 'console.log("before")');
      await tell(
        address,
        `globalThis.flood = setInterval(() => require('fs').writeSync(1, ('x'.repeat(99) + '\\n').repeat(5000)), 5); null`,
      );
      await dropped;
      await tell(address, 'clearInterval(globalThis.flood); null');
      await tell(address, 'console.log("after")');
      const { file, lines = [] } = (await readWhole(runtime(), 'flood')) ?? {};
      expect(lines.at(0)?.text).toBe('before');
      expect(lines.at(-1)?.text).toBe('after');
      expect(new Set(lines.slice(1, -1).map(({ text }) => text.length))).toEqual(new Set([99]));
      const kept = lines.reduce((sum, { text }) => sum + text.length + 1, 0);
      const gone = file?.dropped.reduce((sum, { from, to }) => sum + to - from, 0) ?? 0;
      expect(kept + gone).toBe(file?.marks.at(-1)?.end);
      const bytesOnDisk = async () => (await stat(file?.path ?? '')).blocks * 512;
      await expect.poll(bytesOnDisk).toBeLessThan((file?.marks.at(-1)?.end ?? 0) - gone / 2);
      await tellLast(address, 'process.exit(0)');
      expect((await nextEvent(runtime(), 'exited', 'flood')).exit.tail).toMatch(/after\n$/);
    });

    it('keeps the last 4 KiB of lines for the record of an end', async () => {
      const { start, runtime } = await openFixture(setup);
      await tellLast(await start('wordy'), `for (let i = 0; i < 1000; i++) console.log('line ' + i); process.exit(1)`);
      const { tail } = (await nextEvent(runtime(), 'exited', 'wordy')).exit;
      expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(tailBytes);
      expect(Buffer.byteLength(tail)).toBeGreaterThan(4000);
      expect(tail).toMatch(/^line \d+\n/);
      expect(tail).toMatch(/line 999\n$/);
    });

    it('keeps as much for it of a line without an end, within which characters and no characters are', async () => {
      const { start, runtime } = await openFixture(setup);
      for (const [name, middle] of [
        ['characters', `'\u{1f99c}'.repeat(1500)`],
        ['no-characters', `Buffer.alloc(3000, 0x80)`],
      ] as const) {
        const address = await start(name);
        const written = `Buffer.concat([Buffer.from('start'), Buffer.from(${middle}), Buffer.alloc(2001, 'a')])`;
        await tellLast(address, `require('node:fs').writeSync(1, ${written}); process.exit(1)`);
        const { tail } = (await nextEvent(runtime(), 'exited', name)).exit;
        expect(tail).not.toContain('start');
        // A shorter one would be taken for one that begins with a line: what a log may not show is looked for by that.
        expect(Buffer.byteLength(tail)).toBeGreaterThanOrEqual(tailBytes - 3);
      }
    });

    it('is handed over when the instance has ended, as often as it is asked for, and outlives it', async () => {
      const { start, runtime, dataDirectory, comeBack } = await openFixture(setup);
      const address = await start('handed');
      const directory = join(dataDirectory, 'kept/handed');
      await expect(runtime().outputs.release('handed', directory)).rejects.toThrow(/still runs/);
      await tell(address, 'console.log("one")');
      await tellLast(address, 'console.log("two"); process.exit(0)');
      await nextEvent(runtime(), 'exited', 'handed');
      const before = await readOutput(runtime(), 'handed');
      await runtime().outputs.release('handed', directory);
      // A server that was killed before it wrote that down.
      const next = await comeBack();
      await nextEvent(next, 'exited', 'handed');
      await next.outputs.release('handed', directory);
      await next.forget('handed');
      expect(await next.outputs.of('handed')).toBeNull();
      const file = await next.outputs.released(directory);
      expect(file).toMatchObject({ endedAt: expect.any(Number) });
      const lines = file === null ? [] : await linesOf(file);
      expect(lines.map(({ text }) => text)).toEqual(['one', 'two']);
      expect(lines).toEqual(before);
      expect(await next.outputs.released(join(dataDirectory, 'kept/other'))).toBeNull();
    });
  });
}
