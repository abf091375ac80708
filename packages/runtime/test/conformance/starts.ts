import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { StartError } from '../../src/runtime.ts';
import {
  evaluateCodeThatMayExit,
  evaluateInInstance,
  listRunning,
  openRuntimeFixture,
  type RuntimeSetup,
  waitForEvent,
} from './fixture.ts';
import { waitForOutputLines } from './read-output.ts';

const neverAborted = new AbortController().signal;

export function defineInstanceStartTests(setup: RuntimeSetup): void {
  describe('a runtime driver at the start of a bot', () => {
    it('returns the address at which the bot responds, and lists the bot as ready, as exited after it was stopped, and not after `forget`', async () => {
      const { start, runtime } = await openRuntimeFixture(setup);
      const address = await start('one');
      expect(await evaluateInInstance(address, '1 + 1')).toBe(2);
      const known = { instanceId: 'one', deploymentId: 'deployment-of-one' };
      expect(await runtime().list()).toEqual([{ ...known, state: 'ready', address }]);
      expect(await runtime().inspect('one')).toEqual({ ...known, state: 'ready', address });
      expect(runtime().isAddressCurrent('one')).toBe(true);
      await runtime().stop('one', 5000);
      expect(await runtime().list()).toEqual([{ ...known, state: 'exited', address: null }]);
      expect(await runtime().inspect('one')).toEqual({ ...known, state: 'exited', address: null });
      expect(runtime().isAddressCurrent('one')).toBe(false);
      await runtime().forget('one');
      expect(await runtime().list()).toEqual([]);
      expect(await runtime().inspect('one')).toBeNull();
      await expect(evaluateInInstance(address, '1')).rejects.toThrow();
    });

    it('rejects with a StartError if the instance id is not a valid file name', async () => {
      const { runtime, spec } = await openRuntimeFixture(setup);
      const invalid = { ...(await spec('valid')), instanceId: '../outside' };
      await expect(runtime().start(invalid, neverAborted)).rejects.toBeInstanceOf(StartError);
    });

    it('gives the bot its port and a writable HOME, and no other variables of the service', async () => {
      vi.stubEnv('BOTHOST_TEST_SECRET', 'not-for-bots');
      onTestFinished(() => {
        vi.unstubAllEnvs();
      });
      const { start } = await openRuntimeFixture(setup);
      const address = await start('env');
      const environment = await evaluateInInstance(address, 'process.env');
      expect(environment).not.toHaveProperty('BOTHOST_TEST_SECRET');
      expect(environment).toMatchObject('port' in address ? { PORT: String(address.port) } : {});
      const write = 'require("fs").writeFileSync(require("path").join(process.env.HOME, "note"), "x")';
      expect(await evaluateInInstance(address, write)).toBe(null);
    });

    it.each([404, 405])('treats a bot that responds %i on /readyz as ready', async (status) => {
      const { start } = await openRuntimeFixture(setup);
      expect(await evaluateInInstance(await start('no-probe', `readyStatus = ${status};`), '3')).toBe(3);
    });

    it('passes variables with any names to the bot unchanged', async () => {
      const { spec, runtime } = await openRuntimeFixture(setup);
      const base = await spec('exact');
      const text = ' \n$(id) \'"\\ 😀 \t\r\n';
      const named = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, `${name}${text}`]));
      const variables = named(['PLAIN', 'a-b', '1A', '-', '_', 'PWD', 'IFS', 'PPID', 'OPTIND', 'BASH_ENV', 'go']);
      const environment = async () => ({ ...(await base.environment()), ...variables });
      const { address } = await runtime().start({ ...base, environment }, new AbortController().signal);
      const seen = await evaluateInInstance(address, 'process.env');
      expect(seen).toMatchObject(variables);
    });

    it('passes each instance its own environment variables, even if instances of one deployment have different values', async () => {
      const { spec, runtime, track } = await openRuntimeFixture(setup);
      const base = await spec('first');
      const startWith = (instanceId: string, VALUE: string) => {
        track(instanceId);
        return runtime().start({ ...base, instanceId, environment: async () => ({ VALUE }) }, neverAborted);
      };
      const first = await startWith('first', 'of revision 1');
      const second = await startWith('second', 'of revision 2');
      const third = await startWith('third', 'of revision 1');
      const values = await Promise.all(
        [first, second, third].map(({ address }) => evaluateInInstance(address, 'process.env.VALUE')),
      );
      expect(values).toEqual(['of revision 1', 'of revision 2', 'of revision 1']);
    });

    it('starts nothing if the environment variables are not available, and rejects with the cause', async () => {
      const { spec, runtime } = await openRuntimeFixture(setup);
      const cause = new Error('the secret set does not exist');
      const bare = { ...(await spec('bare')), environment: () => Promise.reject(cause) };
      const failed = await runtime()
        .start(bare, new AbortController().signal)
        .catch((error: unknown) => error);
      expect(failed).toMatchObject({ name: 'StartError', kind: 'platform', exit: null, cause });
      expect(await listRunning(runtime())).toEqual([]);
    });

    it('rejects a second start of an instance that has exited, with its exit', async () => {
      const { spec, runtime } = await openRuntimeFixture(setup);
      const over = await spec('over');
      const { address } = await runtime().start(over, neverAborted);
      await evaluateCodeThatMayExit(address, 'process.exit(6)');
      await waitForEvent(runtime(), 'exited', 'over');
      await expect(runtime().start(over, neverAborted)).rejects.toMatchObject({ kind: 'bot', exit: { code: 6 } });
    });

    it('waits while the bot responds 503 on /readyz', async () => {
      const { start } = await openRuntimeFixture(setup);
      const onStart = `readyStatus = 503; globalThis.statuses = [];
        require('node:diagnostics_channel').subscribe('http.server.response.finish', ({ response }) => {
          statuses.push(response.statusCode); readyStatus = 200; });`;
      expect(await evaluateInInstance(await start('slow', onStart), 'statuses')).toEqual([503, 200]);
    });

    it('stops an unready bot when the start is aborted, and names the step that the bot did not complete', async () => {
      const { spec, runtime, probe } = await openRuntimeFixture(setup);
      const never = await spec('never', `listens = false; console.log('started'); setInterval(() => {}, 1000);`);
      const deadline = new AbortController();
      let starting: Promise<unknown> = Promise.resolve();
      await new Promise<void>((launched) => {
        starting = runtime().start(never, deadline.signal, launched);
      });
      await waitForOutputLines(runtime(), 'never', 1);
      expect(await probe.countProcesses('never')).toBeGreaterThan(0);
      deadline.abort();
      await expect(starting).rejects.toThrow(/it does not listen on .*the port in PORT/);
      await expect(starting).rejects.toMatchObject({ name: 'StartError', kind: 'bot', exit: null });
      expect(await probe.countProcesses('never')).toBe(0);
      expect(await listRunning(runtime())).toEqual([]);
    });

    it('rejects with the exit status and last output if the bot exits before it is ready', async () => {
      const { start } = await openRuntimeFixture(setup);
      const starting = start('brief', 'console.error("no key for the model"); process.exit(7);');
      await expect(starting).rejects.toMatchObject({
        name: 'StartError',
        kind: 'bot',
        exit: { reason: 'exited', code: 7, signal: null, outOfMemory: false, tail: 'no key for the model\n' },
      });
    });

    it('cancels a start when the instance is stopped at any moment of the start', async () => {
      const { spec, runtime } = await openRuntimeFixture(setup);
      const early = await spec('early', 'listens = false; setInterval(() => {}, 1000);');
      for (const steps of [0, 1, 5, 50, 500]) {
        const outcome = runtime()
          .start(early, neverAborted)
          .then(
            () => 'started',
            (error: unknown) => error,
          );
        for (let step = 0; step < steps; step++) await new Promise((resolve) => setImmediate(resolve));
        await runtime().stop('early', 1000);
        expect(await outcome).toBeInstanceOf(StartError);
        expect(await listRunning(runtime())).toEqual([]);
        await runtime().forget('early');
      }
    });

    it('returns the address of an instance that already runs, without a second start', async () => {
      const { spec, runtime } = await openRuntimeFixture(setup);
      const twice = await spec('twice', 'globalThis.startedAs = Math.random();');
      const [first, second] = await Promise.all([
        runtime().start(twice, neverAborted),
        runtime().start(twice, neverAborted),
      ]);
      expect(second).toEqual(first);
      expect(await runtime().start(twice, neverAborted)).toEqual(first);
      expect(await runtime().list()).toHaveLength(1);
    });
  });
}
