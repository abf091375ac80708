import { describe, expect, it } from 'vitest';
import {
  evaluateCodeThatMayExit,
  evaluateInInstance,
  listRunning,
  openRuntimeFixture,
  type RuntimeSetup,
  waitForEvent,
} from './fixture.ts';

export function defineInstanceEndTests(setup: RuntimeSetup): void {
  describe('a runtime driver when a bot ends', () => {
    it('reports the exit status, the time and the last output', async () => {
      const { start, runtime } = await openRuntimeFixture(setup);
      const address = await start('exits');
      const before = Date.now();
      await evaluateCodeThatMayExit(address, 'console.log("bye"); process.exit(3)');
      const { exit, at } = await waitForEvent(runtime(), 'exited', 'exits');
      expect(exit).toEqual({ reason: 'exited', code: 3, signal: null, outOfMemory: false, tail: 'bye\n' });
      // The end time is the modification time of a file, for which the kernel uses a clock that is up to 10 ms late.
      expect(at.getTime()).toBeGreaterThanOrEqual(before - 10);
      expect(at.getTime()).toBeLessThanOrEqual(Date.now());
      expect(await listRunning(runtime())).toEqual([]);
    });

    it('reports the signal that ended the bot', async () => {
      const { start, runtime, probe } = await openRuntimeFixture(setup);
      await start('aborts');
      await probe.kill('aborts', 'SIGABRT');
      expect((await waitForEvent(runtime(), 'exited', 'aborts')).exit).toMatchObject({ code: null, signal: 'SIGABRT' });
    });

    it('sends SIGTERM and lets the bot exit within the grace period', async () => {
      const { start, runtime } = await openRuntimeFixture(setup);
      await start('polite', 'process.on("SIGTERM", () => { console.log("good night"); process.exit(0); });');
      await runtime().stop('polite', 20_000);
      const { exit } = await waitForEvent(runtime(), 'exited', 'polite');
      expect(exit).toMatchObject({ code: 0, signal: null, tail: 'good night\n' });
    });

    it('kills a bot that ignores SIGTERM when the grace period ends, even if stop is called several times', async () => {
      const { start, runtime } = await openRuntimeFixture(setup);
      await start('stubborn', 'process.on("SIGTERM", () => console.log("no"));');
      await Promise.all([runtime().stop('stubborn', 100), runtime().stop('stubborn', 100)]);
      await runtime().stop('stubborn', 100);
      await runtime().stop('unknown', 100);
      const { exit } = await waitForEvent(runtime(), 'exited', 'stubborn');
      expect(exit).toMatchObject({ code: null, signal: 'SIGKILL' });
      expect(exit.tail).toContain('no');
    });

    const SETSID_CHILD = `require('child_process').spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' }); null`;
    const ORPHAN = `require('child_process').execFileSync('/bin/sh', ['-c', "trap '' TERM; setsid sleep 1000 >/dev/null 2>&1 &"]); null`;

    it('stops all child processes of a bot, even if they have left its process session or ignore SIGTERM', async () => {
      const { start, runtime, probe } = await openRuntimeFixture(setup);
      const address = await start('parent');
      const before = await probe.countProcesses('parent');
      await evaluateInInstance(address, SETSID_CHILD);
      await evaluateInInstance(address, ORPHAN);
      expect(await probe.countProcesses('parent')).toBe(before + 2);
      await runtime().stop('parent', 5000);
      expect(await probe.countProcesses('parent')).toBe(0);
    });

    it('reports the exit of a bot only once no child process of the bot is running', async () => {
      const { start, runtime, probe } = await openRuntimeFixture(setup);
      const address = await start('leaver');
      await evaluateInInstance(address, SETSID_CHILD);
      const exited = waitForEvent(runtime(), 'exited', 'leaver');
      await evaluateCodeThatMayExit(address, 'process.exit(0)');
      expect((await exited).exit.code).toBe(0);
      expect(await probe.countProcesses('leaver')).toBe(0);
    });

    it('stops a bot that keeps forking', async () => {
      const { start, runtime } = await openRuntimeFixture(setup);
      const address = await start('forker');
      const script = `i=0; while [ $i -lt 40 ]; do i=$((i+1)); (while :; do sleep 0.01; done) & done; wait`;
      await evaluateInInstance(
        address,
        `require('child_process').spawn('/bin/sh', ['-c', ${JSON.stringify(script)}], { detached: true, stdio: 'ignore' }).pid`,
      );
      await runtime().stop('forker', 0);
      expect(await listRunning(runtime())).toEqual([]);
      // Kubernetes waits at least a second after SIGTERM.
      expect((await waitForEvent(runtime(), 'exited', 'forker')).exit.signal).toMatch(/^SIG(KILL|TERM)$/);
    });

    it('deletes an ended instance in `forget`, and rejects `forget` of a running instance', async () => {
      const { start, runtime } = await openRuntimeFixture(setup);
      await start('kept');
      await expect(runtime().forget('kept')).rejects.toThrow(/still running/);
      await runtime().stop('kept', 0);
      await runtime().forget('kept');
      await runtime().forget('kept');
      expect(await runtime().outputs.find('kept')).toBeNull();
    });
  });
}
