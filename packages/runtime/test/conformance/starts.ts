import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
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
      await runtime().stop('one', 5000);
      expect(await runtime().list()).toEqual([{ ...known, state: 'exited', address: null }]);
      expect(await runtime().inspect('one')).toEqual({ ...known, state: 'exited', address: null });
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

    it('accepts a bot that listens on its Unix socket, and finds the bot after a restart of the server', async () => {
      const { start, restartServer } = await openRuntimeFixture(setup);
      const address = await start('local', 'usesSocket = true;');
      expect(address).toEqual({ socket: await evaluateInInstance(address, 'process.env.BOT_SOCKET') });
      const runtime = await restartServer();
      expect(await runtime.list()).toMatchObject([{ instanceId: 'local', state: 'ready', address }]);
      expect(await evaluateInInstance(address, '1 + 1')).toBe(2);
    });

    it('gives the bot BOT_SOCKET, PORT, BOT_HOST and HOME, and only PATH, LANG and TZ of the service', async () => {
      vi.stubEnv('BOTHOST_TEST_SECRET', 'not-for-bots');
      onTestFinished(() => {
        vi.unstubAllEnvs();
      });
      const { start } = await openRuntimeFixture(setup);
      const address = await start('env', 'process.env.ADDED = "";');
      const environment = await evaluateInInstance(address, 'process.env');
      const allowed = [
        'BOTHOST_INSTANCE',
        'BOT_HOST',
        'BOT_SOCKET',
        'HOME',
        'LANG',
        'ON_START',
        'PATH',
        'PORT',
        'PWD',
        'ADDED',
        'TMPDIR',
        'TZ',
      ];
      expect(Object.keys(environment as object).filter((name) => !allowed.includes(name))).toEqual([]);
      expect(environment).toMatchObject({
        BOT_HOST: '127.0.0.1',
        ...('port' in address ? { PORT: String(address.port) } : {}),
      });
      const write = 'require("fs").writeFileSync(require("path").join(process.env.HOME, "note"), "x")';
      expect(await evaluateInInstance(address, write)).toBe(null);
      expect(await evaluateInInstance(address, write.replaceAll('HOME', 'TMPDIR'))).toBe(null);
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
      const { spec, runtime, shared, probe } = await openRuntimeFixture(setup);
      const started = join(shared, 'started');
      const never = await spec(
        'never',
        `listens = false; require('fs').writeFileSync('${started}', ''); setInterval(() => {}, 1000);`,
      );
      const deadline = new AbortController();
      const launched = vi.fn();
      const starting = runtime().start(never, deadline.signal, launched);
      await expect.poll(() => existsSync(started)).toBe(true);
      expect(launched).toHaveBeenCalledOnce();
      expect(await probe.countProcesses('never')).toBeGreaterThan(0);
      deadline.abort();
      await expect(starting).rejects.toThrow(
        /it does not listen on the Unix socket in the variable BOT_SOCKET or on the port in PORT/,
      );
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

    it("rejects if another program listens on the bot's port at each attempt", async () => {
      const { spec, runtime, shared } = await openRuntimeFixture(setup);
      const ports = join(shared, 'ports');
      const silent = await spec(
        'silent',
        `listens = false; require('fs').appendFileSync('${ports}', process.env.PORT + ' '); setInterval(() => {}, 1000);`,
      );
      const others: Server[] = [];
      onTestFinished(() => {
        for (const other of others) other.close();
      });
      const starting = runtime().start(silent, neverAborted);
      const outcome = starting.then(
        () => 'started',
        (error: Error) => error.message,
      );
      let settled = false;
      void outcome.then(() => {
        settled = true;
      });
      await vi.waitUntil(async () => {
        const named = (await readFile(ports, 'utf8').catch(() => '')).trim().split(' ').filter(Boolean);
        for (const port of named.slice(others.length)) {
          const other = createServer((_, response) => response.end());
          others.push(other);
          other.listen(Number(port), '127.0.0.1');
          await once(other, 'listening');
        }
        return settled;
      }, 20_000);
      expect(await outcome).toMatch(/in 3 attempts: another program took its port/);
      expect(others).toHaveLength(3);
      expect(await listRunning(runtime())).toEqual([]);
    });

    it('reports a bot that listens on addresses other than loopback', async () => {
      const { start, runtime } = await openRuntimeFixture(setup);
      await start('wide', 'host = "0.0.0.0";');
      const event = await waitForEvent(runtime(), 'noticed', 'wide', ({ notice }) => notice === 'listens-wide');
      expect(event.detail).toContain('0.0.0.0');
    });

    it('reports a bot that begins to listen on addresses other than loopback after it was ready', async () => {
      const { start, runtime } = await openRuntimeFixture(setup);
      const address = await start('opens');
      const noticed = waitForEvent(runtime(), 'noticed', 'opens', ({ notice }) => notice === 'listens-wide');
      await evaluateCodeThatMayExit(
        address,
        'server.close(() => server.listen(Number(process.env.PORT), "0.0.0.0")); server.closeAllConnections()',
      );
      expect((await noticed).detail).toContain('0.0.0.0');
    });
  });
}
