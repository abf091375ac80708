import { EventEmitter, once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { type InstanceSpec, StartError } from '../../src/runtime.ts';
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
import { waitForOutputLines } from './read-output.ts';

const neverAborted = new AbortController().signal;
/**
 * Fails to return the environment variables of a bot, as if its secrets were unavailable. A restarted server must not request
 * the environment variables of a bot that already runs.
 */
const unavailable = (): Promise<never> =>
  Promise.reject(new Error('the environment variables of the bot are not available'));

/** Resolves with the error of a rejected promise, and with null otherwise. */
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => null,
    (error: unknown) => error,
  );

export function defineInstanceAdoptionTests(setup: RuntimeSetup): void {
  describe('a restarted server', () => {
    it('finds running bots at their addresses and does not start them again', async () => {
      const { spec, runtime, closeServer, restartServer } = await openRuntimeFixture(setup);
      const stays = await spec('stays', 'globalThis.startedAs = process.pid + ":" + process.hrtime.bigint();');
      const { address } = await runtime().start(stays, neverAborted);
      const startedAs = await evaluateInInstance(address, 'globalThis.startedAs');
      await closeServer();
      expect(await evaluateInInstance(address, 'globalThis.startedAs')).toBe(startedAs);
      const next = await restartServer();
      expect(await next.list()).toEqual([
        { instanceId: 'stays', deploymentId: 'deployment-of-stays', state: 'ready', address },
      ]);
      expect(await next.start({ ...stays, environment: unavailable }, neverAborted)).toMatchObject({ address });
      expect(await evaluateInInstance(address, 'globalThis.startedAs')).toBe(startedAs);
    });

    it('waits for a bot that was not ready when the previous server process closed', async () => {
      const { spec, runtime, probe, closeServer, restartServer } = await openRuntimeFixture(setup);
      const late = await spec(
        'late',
        `readyStatus = 503; process.on('SIGUSR2', () => { readyStatus = 200; }); console.log('waits');`,
      );
      const failure = failureOf(runtime().start(late, neverAborted));
      await expect
        .poll(() => runtime().list())
        .toMatchObject([{ instanceId: 'late', state: 'starting', address: null }]);
      await waitForOutputLines(runtime(), 'late', 1);
      await closeServer();
      expect(await failure).toBeInstanceOf(StartError);
      const next = await restartServer();
      expect(await next.list()).toMatchObject([{ instanceId: 'late', state: 'starting', address: null }]);
      const starting = next.start({ ...late, environment: unavailable }, neverAborted);
      await probe.kill('late', 'SIGUSR2');
      expect(await evaluateInInstance((await starting).address, 'readyStatus')).toBe(200);
      expect(await next.list()).toHaveLength(1);
    });

    it('starts a bot once if the previous server process closed while it launched the bot', async () => {
      const { spec, runtime, closeServer, restartServer } = await openRuntimeFixture(setup);
      const launched = await spec('launched');
      const events = new EventEmitter();
      const environment: InstanceSpec['environment'] = async () => {
        const provided = once(events, 'provided');
        events.emit('requested');
        await provided;
        return {};
      };
      const requested = once(events, 'requested');
      const failure = failureOf(runtime().start({ ...launched, environment }, neverAborted));
      await requested;
      const closed = closeServer();
      events.emit('provided');
      await closed;
      expect(await failure).toBeInstanceOf(StartError);
      const next = await restartServer();
      expect(await evaluateInInstance((await next.start(launched, neverAborted)).address, 'readyStatus')).toBe(200);
      expect(await next.list()).toHaveLength(1);
    });

    it('reports the exit of a bot that ended while the server was stopped, and repeats the report after each restart until `forget` is called', async () => {
      const { start, closeServer, restartServer, probe } = await openRuntimeFixture(setup);
      const address = await start('ended');
      await closeServer();
      await evaluateCodeThatMayExit(address, 'console.log("alone"); process.exit(9)');
      await expect.poll(() => probe.countProcesses('ended')).toBe(0);
      const latest = Date.now();
      for (let times = 0; times < 2; times++) {
        const next = await restartServer();
        const { exit, at } = await waitForEvent(next, 'exited', 'ended');
        expect(exit).toEqual({ reason: 'exited', code: 9, signal: null, outOfMemory: false, tail: 'alone\n' });
        expect(at.getTime()).toBeLessThanOrEqual(latest + 1000);
        expect(await next.list()).toMatchObject([{ instanceId: 'ended', state: 'exited', address: null }]);
      }
      await (await restartServer()).forget('ended');
      const silent = new AbortController();
      const watched = (await restartServer()).watch(silent.signal)[Symbol.asyncIterator]();
      const first = watched.next();
      silent.abort();
      expect(await first).toMatchObject({ done: true });
    });

    testUnless(
      setup.enforcesLimits ? null : 'not applicable: this setup enforces no limits',
      'reports that a bot ran out of memory while no server ran',
      async () => {
        const { start, closeServer, restartServer, probe } = await openRuntimeFixture(setup);
        const address = await start('starved', '', { ...defaultResourceLimits, memoryBytes: 160 * 1024 * 1024 });
        await closeServer();
        // Responds before the bot is killed: the network of a pod may vanish with its connections still open.
        await evaluateInInstance(
          address,
          'globalThis.allocated = []; setInterval(() => allocated.push(Buffer.alloc(16 * 1024 * 1024, 1)), 20); null',
        );
        await expect.poll(() => probe.countProcesses('starved')).toBe(0);
        for (let times = 0; times < 2; times++) {
          const { exit } = await waitForEvent(await restartServer(), 'exited', 'starved');
          expect(exit).toMatchObject({ reason: 'out-of-memory', signal: 'SIGKILL', outOfMemory: true });
        }
      },
    );

    it('reports the exit status of an adopted bot', async () => {
      const { start, closeServer, restartServer } = await openRuntimeFixture(setup);
      const address = await start('adopted');
      await closeServer();
      const exited = waitForEvent(await restartServer(), 'exited', 'adopted');
      await evaluateCodeThatMayExit(address, 'process.exit(4)');
      expect((await exited).exit).toMatchObject({ code: 4, signal: null });
    });

    it('stops an adopted bot with all its children', async () => {
      const { start, closeServer, restartServer, probe } = await openRuntimeFixture(setup);
      const address = await start('family');
      const before = await probe.countProcesses('family');
      await evaluateInInstance(
        address,
        `require('child_process').spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' }); null`,
      );
      expect(await probe.countProcesses('family')).toBe(before + 1);
      await closeServer();
      const next = await restartServer();
      await next.stop('family', 100);
      expect(await probe.countProcesses('family')).toBe(0);
      expect((await waitForEvent(next, 'exited', 'family')).exit.signal).toBe('SIGTERM');
    });

    it('shows the output that a bot wrote while no server was running, marked as unattended unless its time is known', async () => {
      const { start, runtime, closeServer, restartServer } = await openRuntimeFixture(setup);
      const address = await start('talker');
      await evaluateInInstance(address, 'console.log("first")');
      const [first] = await waitForOutputLines(runtime(), 'talker', 1);
      await closeServer();
      await evaluateInInstance(address, 'console.log("second")');
      const next = await restartServer();
      await evaluateInInstance(address, 'console.log("third")');
      const lines = await waitForOutputLines(next, 'talker', 3);
      expect(lines.map(({ text, unattended }) => ({ text, unattended }))).toEqual([
        { text: 'first', unattended: false },
        { text: 'second', unattended: !setup.timesUnattendedOutput },
        { text: 'third', unattended: false },
      ]);
      expect(lines[0]).toEqual(first);
      const times = lines.map(({ at }) => at);
      expect(times).toEqual([...times].sort((a, b) => a - b));
    });

    it('counts the CPU time that an adopted bot used before the restart', async () => {
      const { start, runtime, closeServer, restartServer } = await openRuntimeFixture(setup);
      const address = await start('counted');
      await evaluateInInstance(
        address,
        'const until = process.cpuUsage().user + 300000; while (process.cpuUsage().user < until);',
      );
      const before = await readNewUsage(runtime(), 'counted');
      await closeServer();
      const after = await readNewUsage(await restartServer(), 'counted');
      expect(before.cpuMicroseconds).toBeGreaterThanOrEqual(290_000);
      expect(after.cpuMicroseconds).toBeGreaterThanOrEqual(before.cpuMicroseconds);
    });
  });
}
