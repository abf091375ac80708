import { describe, expect, it } from 'vitest';
import type { InstanceNotice } from '../../src/runtime.ts';
import { defaultResourceLimits } from '../instance-spec.ts';
import { testUnless } from '../skip-with-reason.ts';
import {
  evaluateCodeThatMayExit,
  evaluateInInstance,
  openRuntimeFixture,
  type RuntimeSetup,
  readNewUsage,
  waitForEvent,
} from './fixture.ts';

const mebibyte = 1024 * 1024;

export function defineResourceTests(setup: RuntimeSetup): void {
  describe('sample', () => {
    it('measures at least nine tenths of the CPU time that a bot uses', async () => {
      const { start, runtime } = await openRuntimeFixture(setup);
      const address = await start('burner');
      const before = await readNewUsage(runtime(), 'burner');
      const burned = Number(await evaluateInInstance(address, burn(500)));
      const after = await readNewUsage(runtime(), 'burner');
      const counted = after.cpuMicroseconds - before.cpuMicroseconds;
      expect(counted).toBeGreaterThan(burned * 0.9);
      // The runtime driver also counts CPU time that the bot uses outside of the measured loop.
      expect(counted).toBeLessThan(burned * 1.5 + 100_000);
    });

    it('measures the memory of a bot', async () => {
      const { start, runtime } = await openRuntimeFixture(setup);
      const address = await start('holder');
      const before = await readNewUsage(runtime(), 'holder');
      await evaluateInInstance(address, `globalThis.held = Buffer.alloc(${100 * mebibyte}, 1); null`);
      const grown = (await readNewUsage(runtime(), 'holder')).memoryBytes - before.memoryBytes;
      expect(grown).toBeGreaterThan(90 * mebibyte);
      expect(grown).toBeLessThan(130 * mebibyte);
    });

    it('includes running and ended child processes, so that CPU time never decreases', async () => {
      const { start, runtime } = await openRuntimeFixture(setup);
      const address = await start('parent');
      const before = await readNewUsage(runtime(), 'parent');
      // Use more CPU time than the expected 400 ms, because /proc counts in ticks of 10 ms and omits the last, incomplete tick.
      await evaluateInInstance(address, spawnBurner(`${burn(450)}; setInterval(() => {}, 1000)`));
      let highest = before.cpuMicroseconds;
      await expect
        .poll(
          async () => {
            const { cpuMicroseconds } = await readNewUsage(runtime(), 'parent');
            expect(cpuMicroseconds).toBeGreaterThanOrEqual(highest);
            highest = cpuMicroseconds;
            return cpuMicroseconds - before.cpuMicroseconds;
          },
          { timeout: 20_000 },
        )
        .toBeGreaterThan(400_000);
      await evaluateInInstance(
        address,
        `new Promise((done) => { globalThis.child.once('exit', () => done(null)); globalThis.child.kill('SIGKILL'); })`,
      );
      expect((await readNewUsage(runtime(), 'parent')).cpuMicroseconds).toBeGreaterThanOrEqual(highest);
    });

    it('returns the last usage of an ended instance until it is forgotten, and skips unknown instances', async () => {
      const { start, runtime } = await openRuntimeFixture(setup);
      await start('ended');
      await start('running');
      await readNewUsage(runtime(), 'running');
      const { cpuMicroseconds } = await readNewUsage(runtime(), 'ended');
      await runtime().stop('ended', 0);
      const usages = await runtime().sample(['ended', 'running', 'unknown']);
      expect([...usages.keys()]).toEqual(['ended', 'running']);
      expect(usages.get('ended')).toMatchObject({ hasEnded: true });
      expect(usages.get('ended')?.cpuMicroseconds).toBeGreaterThanOrEqual(cpuMicroseconds);
      await runtime().forget('ended');
      expect([...(await runtime().sample(['ended', 'running'])).keys()]).toEqual(['running']);
    });
  });

  describe('a runtime driver with resource limits', () => {
    it('kills only the bot that exceeds its memory limit, and reports that it ran out of memory', async () => {
      const { start, runtime } = await openRuntimeFixture(setup);
      const bystander = await start('bystander');
      const address = await start('eater', '', { ...defaultResourceLimits, memoryBytes: 160 * mebibyte });
      await evaluateCodeThatMayExit(
        address,
        `globalThis.allocated = []; setInterval(() => allocated.push(Buffer.alloc(${16 * mebibyte}, 1)), 20); null`,
      );
      const { exit } = await waitForEvent(runtime(), 'exited', 'eater');
      expect(exit).toMatchObject({ reason: 'out-of-memory', code: null, signal: 'SIGKILL', outOfMemory: true });
      expect(await evaluateInInstance(bystander, '"alive"')).toBe('alive');
    });

    testUnless(
      setup.enforcesLimits && setup.sharesCpu !== true ? null : 'not applicable: this setup does not limit CPU',
      'limits the CPU of a ready bot',
      async () => {
        const { start } = await openRuntimeFixture(setup);
        const address = await start('held', '', { ...defaultResourceLimits, cpuMillicores: 250 });
        const share = await evaluateInInstance(
          address,
          `const from = process.cpuUsage(); const until = Date.now() + 3000; while (Date.now() < until);
         const used = process.cpuUsage(from); (used.user + used.system) / 3e6`,
        );
        expect(share).toBeLessThan(0.4);
      },
    );

    testUnless(
      setup.enforcesLimits ? 'not applicable: this setup enforces limits' : null,
      'reports the limits that the machine does not enforce',
      async () => {
        const { start, runtime } = await openRuntimeFixture(setup);
        await start('unbound');
        const expected: InstanceNotice[] = ['cpu-limit-not-enforced', 'memory-limit-sampled'];
        const noticed: InstanceNotice[] = [];
        await waitForEvent(runtime(), 'noticed', 'unbound', ({ notice }) => {
          noticed.push(notice);
          return expected.every((name) => noticed.includes(name));
        });
        expect(noticed.sort()).toEqual(expected);
      },
    );
  });
}

/**
 * Returns JavaScript that uses `milliseconds` of CPU time and evaluates to the CPU time that its process used meanwhile, in
 * microseconds.
 */
function burn(milliseconds: number): string {
  return `(() => { const from = process.cpuUsage(); for (;;) { const used = process.cpuUsage(from); const sum = used.user + used.system; if (sum >= ${milliseconds * 1000}) return sum; } })()`;
}

function spawnBurner(code: string): string {
  return `globalThis.child = require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(code)}], { stdio: 'ignore' }); null`;
}
