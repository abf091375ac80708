import { describe, expect, it } from 'vitest';
import type { LogLine, Runtime } from '../runtime.ts';
import { nextEvent, openFixture, type RuntimeSetup, tell, tellLast } from './fixture.ts';

const NEVER = new AbortController().signal;

/** What a bot writes, and how it is read. */
export function describeOutput(setup: RuntimeSetup): void {
  describe('output', () => {
    it('hands out lines of both streams in order as they come, and the rest when the bot ends', async () => {
      const { start, runtime } = await openFixture(setup);
      const address = await start('lines');
      await tell(address, 'console.log("one"); console.error("zwei ä"); process.stdout.write("un"); ');
      const reading = collectLines(runtime(), 'lines', 0, Number.POSITIVE_INFINITY);
      await tell(address, 'process.stdout.write("finished\\n\\nlast, without a break")');
      await tellLast(address, 'process.exit(0)');
      const lines = await reading;
      expect(lines.map(({ text }) => text)).toEqual(['one', 'zwei ä', 'unfinished', '', 'last, without a break']);
      expect(lines.map(({ cursor }) => cursor)).toEqual([0, 4, 12, 23, 24]);
      expect(lines.every(({ unattended }) => !unattended)).toBe(true);
    });

    it('goes on from a cursor', async () => {
      const { start, runtime } = await openFixture(setup);
      const address = await start('resumed');
      await tell(address, 'console.log("one"); console.log("two"); console.log("three")');
      const [, second] = await collectLines(runtime(), 'resumed', 0, 2);
      const rest = await collectLines(runtime(), 'resumed', second?.cursor ?? Number.NaN, 2);
      expect(rest.map(({ text }) => text)).toEqual(['two', 'three']);
    });

    it('reads no more after an abort', async () => {
      const { start, runtime } = await openFixture(setup);
      await start('quiet');
      const reading = new AbortController();
      const next = runtime().logs('quiet', 0, reading.signal)[Symbol.asyncIterator]().next();
      reading.abort();
      expect(await next).toMatchObject({ done: true });
    });

    it('bounds the output of a bot that floods, says so, and keeps cursors rising', async () => {
      const { start, runtime } = await openFixture(setup);
      const address = await start('flood');
      const dropped = nextEvent(runtime(), 'noticed', 'flood', ({ notice }) => notice === 'output-dropped');
      await tell(address, 'console.log("before")');
      const [before] = await collectLines(runtime(), 'flood', 0, 1);
      await tell(
        address,
        `globalThis.flood = setInterval(() => require('fs').writeSync(1, ('x'.repeat(99) + '\\n').repeat(5000)), 5); null`,
      );
      await dropped;
      await tell(address, 'clearInterval(globalThis.flood); null');
      await tell(address, 'console.log("after")');
      let after: LogLine | undefined;
      for await (const line of runtime().logs('flood', before?.cursor ?? 0, NEVER)) {
        if (line.text !== 'after') continue;
        after = line;
        break;
      }
      expect(after?.cursor).toBeGreaterThan(1024 * 1024);
      await tellLast(address, 'process.exit(0)');
      expect((await nextEvent(runtime(), 'exited', 'flood')).exit.tail).toMatch(/after\n$/);
    });

    it('keeps the last 4 KiB of lines for the record of an end', async () => {
      const { start, runtime } = await openFixture(setup);
      await tellLast(await start('wordy'), `for (let i = 0; i < 1000; i++) console.log('line ' + i); process.exit(1)`);
      const { tail } = (await nextEvent(runtime(), 'exited', 'wordy')).exit;
      expect(Buffer.byteLength(tail)).toBeLessThanOrEqual(4096);
      expect(Buffer.byteLength(tail)).toBeGreaterThan(4000);
      expect(tail).toMatch(/^line \d+\n/);
      expect(tail).toMatch(/line 999\n$/);
    });
  });
}

/** As many lines as `count`, fewer when the output ends before. */
export async function collectLines(
  runtime: Runtime,
  instanceId: string,
  from: number,
  count: number,
): Promise<readonly LogLine[]> {
  const lines: LogLine[] = [];
  for await (const line of runtime.logs(instanceId, from, NEVER)) {
    lines.push(line);
    if (lines.length >= count) break;
  }
  return lines;
}
