import { describe, expect, it } from 'vitest';
import type { InstanceNotice, Runtime } from '../../src/runtime.ts';
import { LIMITS, nextEvent, openFixture, type RuntimeSetup, tell, tellLast } from './fixture.ts';

const MEBIBYTE = 1024 * 1024;

/** CPU and memory: what is measured, and what is limited. */
export function describeResources(setup: RuntimeSetup): void {
  describe('usage', () => {
    it('counts the CPU time that a bot burns, within a tenth', async () => {
      const { start, runtime } = await openFixture(setup);
      const address = await start('burner');
      const before = await usageOf(runtime(), 'burner');
      const burned = Number(await tell(address, burn(500)));
      const after = await usageOf(runtime(), 'burner');
      const counted = after.cpuMicroseconds - before.cpuMicroseconds;
      expect(counted).toBeGreaterThan(burned * 0.9);
      // Above what the bot says, the rest of its threads count too.
      expect(counted).toBeLessThan(burned * 1.5 + 100_000);
    });

    it('counts the memory that a bot holds', async () => {
      const { start, runtime } = await openFixture(setup);
      const address = await start('holder');
      const before = await usageOf(runtime(), 'holder');
      await tell(address, `globalThis.held = Buffer.alloc(${100 * MEBIBYTE}, 1); null`);
      const grown = (await usageOf(runtime(), 'holder')).memoryBytes - before.memoryBytes;
      expect(grown).toBeGreaterThan(90 * MEBIBYTE);
      expect(grown).toBeLessThan(130 * MEBIBYTE);
    });

    it('counts children, also when they have ended, so that CPU time never falls', async () => {
      const { start, runtime } = await openFixture(setup);
      const address = await start('parent');
      const before = await usageOf(runtime(), 'parent');
      // More than what is waited for: /proc counts in ticks of 10 ms and leaves out the last, unfinished one.
      await tell(address, spawnBurner(`${burn(450)}; setInterval(() => {}, 1000)`));
      let highest = before.cpuMicroseconds;
      await expect
        .poll(
          async () => {
            const { cpuMicroseconds } = await usageOf(runtime(), 'parent');
            expect(cpuMicroseconds).toBeGreaterThanOrEqual(highest);
            highest = cpuMicroseconds;
            return cpuMicroseconds - before.cpuMicroseconds;
          },
          { timeout: 20_000 },
        )
        .toBeGreaterThan(400_000);
      await tell(
        address,
        `new Promise((done) => { globalThis.child.once('exit', () => done(null)); globalThis.child.kill('SIGKILL'); })`,
      );
      expect((await usageOf(runtime(), 'parent')).cpuMicroseconds).toBeGreaterThanOrEqual(highest);
    });

    it('leaves out instances that are gone or unknown', async () => {
      const { start, runtime } = await openFixture(setup);
      await start('gone');
      await start('here');
      await runtime().stop('gone', 0);
      expect([...(await runtime().sample(['gone', 'here', 'unknown'])).keys()]).toEqual(['here']);
    });
  });

  describe('limits', () => {
    it('ends a bot that eats more memory than it may, and says that it did', async () => {
      const { start, runtime } = await openFixture(setup);
      const address = await start('eater', '', { ...LIMITS, memoryBytes: 160 * MEBIBYTE });
      await tellLast(
        address,
        `globalThis.eaten = []; setInterval(() => eaten.push(Buffer.alloc(${16 * MEBIBYTE}, 1)), 20); null`,
      );
      const { exit } = await nextEvent(runtime(), 'exited', 'eater');
      expect(exit).toMatchObject({ code: null, signal: 'SIGKILL', outOfMemory: true });
    });

    if (setup.enforcesLimits)
      it('holds a ready bot to its share of the CPU', async () => {
        const { start } = await openFixture(setup);
        const address = await start('held', '', { ...LIMITS, cpuMillicores: 250 });
        const share = await tell(
          address,
          `const from = process.cpuUsage(); const until = Date.now() + 1000; while (Date.now() < until);
         const used = process.cpuUsage(from); (used.user + used.system) / 1e6`,
        );
        expect(share).toBeLessThan(0.4);
      });

    if (!setup.enforcesLimits)
      it('says of a bot which limits the machine does not enforce', async () => {
        const { start, runtime } = await openFixture(setup);
        await start('unbound');
        const wanted: InstanceNotice[] = ['cpu-limit-not-enforced', 'memory-limit-sampled'];
        const noticed: InstanceNotice[] = [];
        await nextEvent(runtime(), 'noticed', 'unbound', ({ notice }) => {
          noticed.push(notice);
          return wanted.every((name) => noticed.includes(name));
        });
        expect(noticed.sort()).toEqual(wanted);
      });
  });
}

/** Code that burns CPU time in its own process and gives back how much, in microseconds. */
function burn(milliseconds: number): string {
  return `(() => { const from = process.cpuUsage(); for (;;) { const used = process.cpuUsage(from); const sum = used.user + used.system; if (sum >= ${milliseconds * 1000}) return sum; } })()`;
}

function spawnBurner(code: string): string {
  return `globalThis.child = require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(code)}], { stdio: 'ignore' }); null`;
}

async function usageOf(runtime: Runtime, instanceId: string) {
  const usage = (await runtime.sample([instanceId])).get(instanceId);
  if (usage === undefined) throw new Error(`no usage of ${instanceId}`);
  return usage;
}
