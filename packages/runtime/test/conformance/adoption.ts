import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LIMITS, nextEvent, openFixture, type RuntimeSetup, tell, tellLast } from './fixture.ts';
import { readLines } from './read-output.ts';

const NEVER = new AbortController().signal;
/** What a bot that runs began with may not be there any more, and nobody needs it. */
const lost = (): Promise<never> => Promise.reject(new Error('its variables are not there'));

/** A server that ends and the one that comes after it, over the same bots. */
export function describeAdoption(setup: RuntimeSetup): void {
  describe('a server that came back', () => {
    it('finds the bots that went on, where they were, and starts none of them again', async () => {
      const { spec, runtime, leave, comeBack } = await openFixture(setup);
      const stays = await spec('stays', 'globalThis.born = process.pid + ":" + process.hrtime.bigint();');
      const address = await runtime().start(stays, NEVER);
      const born = await tell(address, 'globalThis.born');
      await leave();
      expect(await tell(address, 'globalThis.born')).toBe(born);
      const next = await comeBack();
      expect(await next.list()).toEqual([{ instanceId: 'stays', deploymentId: 'deployment-of-stays', address }]);
      expect(await next.start({ ...stays, environment: lost }, NEVER)).toEqual(address);
      expect(await tell(address, 'globalThis.born')).toBe(born);
    });

    it('waits for a bot that was not ready yet when the server before it ended', async () => {
      const { spec, runtime, shared, leave, comeBack } = await openFixture(setup);
      const sign = join(shared, 'sign');
      const late = await spec(
        'late',
        `readyStatus = 503; const looking = setInterval(() => { if (!require('fs').existsSync('${sign}')) return;
          clearInterval(looking); readyStatus = 200; }, 20);`,
      );
      // The first server never learns the outcome: it is gone by then.
      void runtime()
        .start(late, NEVER)
        .catch(() => undefined);
      await expect.poll(() => runtime().list()).toMatchObject([{ instanceId: 'late', address: null }]);
      await leave();
      const next = await comeBack();
      expect(await next.list()).toMatchObject([{ instanceId: 'late', address: null }]);
      const starting = next.start({ ...late, environment: lost }, NEVER);
      await writeFile(sign, '');
      expect(await tell(await starting, 'readyStatus')).toBe(200);
      expect(await next.list()).toHaveLength(1);
    });

    it('learns how and when a bot ended while no server ran, each time until it forgets it', async () => {
      const { start, leave, comeBack, probe } = await openFixture(setup);
      const address = await start('ended');
      await leave();
      await tellLast(address, 'console.log("alone"); process.exit(9)');
      await expect.poll(() => probe.countProcesses('ended')).toBe(0);
      const latest = Date.now();
      for (let times = 0; times < 2; times++) {
        const next = await comeBack();
        const { exit, at } = await nextEvent(next, 'exited', 'ended');
        expect(exit).toEqual({ code: 9, signal: null, outOfMemory: false, tail: 'alone\n' });
        expect(at.getTime()).toBeLessThanOrEqual(latest + 1000);
        expect(await next.list()).toEqual([]);
      }
      await (await comeBack()).forget('ended');
      const silent = new AbortController();
      const watched = (await comeBack()).watch(silent.signal)[Symbol.asyncIterator]();
      const first = watched.next();
      silent.abort();
      expect(await first).toMatchObject({ done: true });
    });

    if (setup.enforcesLimits)
      it('learns that a bot ran out of memory while no server ran', async () => {
        const { start, leave, comeBack, probe } = await openFixture(setup);
        const address = await start('starved', '', { ...LIMITS, memoryBytes: 160 * 1024 * 1024 });
        await leave();
        await tellLast(address, 'globalThis.eaten = []; for (;;) eaten.push(Buffer.alloc(16 * 1024 * 1024, 1))');
        await expect.poll(() => probe.countProcesses('starved')).toBe(0);
        for (let times = 0; times < 2; times++) {
          const { exit } = await nextEvent(await comeBack(), 'exited', 'starved');
          expect(exit).toMatchObject({ signal: 'SIGKILL', outOfMemory: true });
        }
      });

    it('is told when an adopted bot ends, and with what status', async () => {
      const { start, leave, comeBack } = await openFixture(setup);
      const address = await start('adopted');
      await leave();
      const exited = nextEvent(await comeBack(), 'exited', 'adopted');
      await tellLast(address, 'process.exit(4)');
      expect((await exited).exit).toMatchObject({ code: 4, signal: null });
    });

    it('stops an adopted bot with all its children', async () => {
      const { start, leave, comeBack, probe } = await openFixture(setup);
      const address = await start('family');
      const before = await probe.countProcesses('family');
      await tell(
        address,
        `require('child_process').spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' }); null`,
      );
      expect(await probe.countProcesses('family')).toBe(before + 1);
      await leave();
      const next = await comeBack();
      await next.stop('family', 100);
      expect(await probe.countProcesses('family')).toBe(0);
      expect((await nextEvent(next, 'exited', 'family')).exit.signal).toBe('SIGTERM');
    });

    it('marks the lines that were written while no server ran', async () => {
      const { start, runtime, leave, comeBack } = await openFixture(setup);
      const address = await start('talker');
      await tell(address, 'console.log("first")');
      const [first] = await readLines(runtime(), 'talker', 1);
      await leave();
      await tell(address, 'console.log("second")');
      const next = await comeBack();
      await tell(address, 'console.log("third")');
      const lines = await readLines(next, 'talker', 3);
      expect(lines.map(({ text, unattended }) => ({ text, unattended }))).toEqual([
        { text: 'first', unattended: false },
        { text: 'second', unattended: true },
        { text: 'third', unattended: false },
      ]);
      expect(lines[0]).toEqual(first);
      const times = lines.map(({ at }) => at);
      expect(times).toEqual([...times].sort((a, b) => a - b));
    });

    it('goes on counting the CPU time of an adopted bot where it was', async () => {
      const { start, runtime, leave, comeBack } = await openFixture(setup);
      const address = await start('counted');
      await tell(address, 'const until = process.cpuUsage().user + 300000; while (process.cpuUsage().user < until);');
      const before = (await runtime().sample(['counted'])).get('counted');
      await leave();
      const after = (await (await comeBack()).sample(['counted'])).get('counted');
      expect(before?.cpuMicroseconds).toBeGreaterThanOrEqual(290_000);
      expect(after?.cpuMicroseconds).toBeGreaterThanOrEqual(before?.cpuMicroseconds ?? Number.NaN);
    });
  });
}
