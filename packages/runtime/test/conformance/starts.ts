import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { StartError } from '../../src/runtime.ts';
import { nextEvent, openFixture, type RuntimeSetup, tell, tellLast } from './fixture.ts';

const NEVER = new AbortController().signal;

/** Start and readiness. */
export function describeStarts(setup: RuntimeSetup): void {
  describe('start and readiness', () => {
    it('starts a bot that answers at the address, and lists it until it is stopped', async () => {
      const { start, runtime } = await openFixture(setup);
      const address = await start('one');
      expect(await tell(address, '1 + 1')).toBe(2);
      expect(await runtime().list()).toEqual([{ instanceId: 'one', deploymentId: 'deployment-of-one', address }]);
      await runtime().stop('one', 5000);
      expect(await runtime().list()).toEqual([]);
      await expect(tell(address, '1')).rejects.toThrow();
    });

    it('gives a bot its port, its host, a home that it may write to, and nothing of the own environment', async () => {
      vi.stubEnv('BOTHOST_TEST_SECRET', 'not-for-bots');
      onTestFinished(() => {
        vi.unstubAllEnvs();
      });
      const { start } = await openFixture(setup);
      const address = await start('env', 'process.env.SAID = "";');
      const environment = await tell(address, 'process.env');
      const allowed = [
        'BOTHOST_INSTANCE',
        'BOT_HOST',
        'HOME',
        'LANG',
        'ON_START',
        'PATH',
        'PORT',
        'PWD',
        'SAID',
        'TMPDIR',
        'TZ',
      ];
      expect(Object.keys(environment as object).filter((name) => !allowed.includes(name))).toEqual([]);
      expect(environment).toMatchObject({ BOT_HOST: '127.0.0.1', PORT: String(address.port) });
      const write = 'require("fs").writeFileSync(require("path").join(process.env.HOME, "note"), "x")';
      expect(await tell(address, write)).toBe(null);
      expect(await tell(address, write.replaceAll('HOME', 'TMPDIR'))).toBe(null);
    });

    it.each([404, 405])('takes a bot without a probe (%i on /readyz) as ready when it listens', async (status) => {
      const { start } = await openFixture(setup);
      expect(await tell(await start('no-probe', `readyStatus = ${status};`), '3')).toBe(3);
    });

    it('gives a bot its variables byte by byte, whatever they are called', async () => {
      const { spec, runtime } = await openFixture(setup);
      const wanted = await spec('exact');
      const text = ' \n$(id) \'"\\ 😀 \t\r\n';
      const named = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, `${name}${text}`]));
      const variables = named(['PLAIN', 'a-b', '1A', '-', '_', 'PWD', 'IFS', 'PPID', 'OPTIND', 'BASH_ENV', 'go']);
      const environment = async () => ({ ...(await wanted.environment()), ...variables });
      const address = await runtime().start({ ...wanted, environment }, new AbortController().signal);
      const seen = await tell(address, 'process.env');
      expect(seen).toMatchObject(variables);
    });

    it('gives each instance of a deployment the variables of its own start, newer or older, and they stay', async () => {
      const { spec, runtime, remember } = await openFixture(setup);
      const wanted = await spec('first');
      const startWith = (instanceId: string, VALUE: string) => {
        remember(instanceId);
        return runtime().start({ ...wanted, instanceId, environment: async () => ({ VALUE }) }, NEVER);
      };
      const first = await startWith('first', 'of revision 1');
      const second = await startWith('second', 'of revision 2');
      // A deployment that was rolled back to.
      const third = await startWith('third', 'of revision 1');
      const values = await Promise.all([first, second, third].map((address) => tell(address, 'process.env.VALUE')));
      expect(values).toEqual(['of revision 1', 'of revision 2', 'of revision 1']);
    });

    it('starts nothing when its variables cannot be had, and says why', async () => {
      const { spec, runtime } = await openFixture(setup);
      const lost = new Error('the set is gone');
      const wanted = { ...(await spec('bare')), environment: () => Promise.reject(lost) };
      const failed = await runtime()
        .start(wanted, new AbortController().signal)
        .catch((error: unknown) => error);
      expect(failed).toMatchObject({ name: 'StartError', exit: null, cause: lost });
      expect(await runtime().list()).toEqual([]);
    });

    it('waits while a bot says that it is not ready', async () => {
      const { start } = await openFixture(setup);
      const begun = 'readyStatus = 503; setTimeout(() => { readyStatus = 200; }, 300);';
      expect(await tell(await start('slow', begun), 'readyStatus')).toBe(200);
    });

    it('ends a bot that never becomes ready when the start is aborted, and says what it lacked', async () => {
      const { spec, runtime, shared, probe } = await openFixture(setup);
      const started = join(shared, 'started');
      const never = await spec(
        'never',
        `listens = false; require('fs').writeFileSync('${started}', ''); setInterval(() => {}, 1000);`,
      );
      const deadline = new AbortController();
      const starting = runtime().start(never, deadline.signal);
      await expect.poll(() => existsSync(started)).toBe(true);
      expect(await probe.countProcesses('never')).toBeGreaterThan(0);
      deadline.abort();
      await expect(starting).rejects.toThrow(/nothing listens on its port, which the variable PORT names/);
      await expect(starting).rejects.toBeInstanceOf(StartError);
      expect(await probe.countProcesses('never')).toBe(0);
      expect(await runtime().list()).toEqual([]);
    });

    it('says with what status and last words a bot exited before it was ready', async () => {
      const { start } = await openFixture(setup);
      const starting = start('brief', 'console.error("no key for the model"); process.exit(7);');
      await expect(starting).rejects.toMatchObject({
        name: 'StartError',
        exit: { code: 7, signal: null, outOfMemory: false, tail: 'no key for the model\n' },
      });
    });

    it('gives up a start when the instance is stopped, whenever that is', async () => {
      const { spec, runtime } = await openFixture(setup);
      const early = await spec('early', 'listens = false; setInterval(() => {}, 1000);');
      for (const steps of [0, 1, 5, 50, 500]) {
        const outcome = runtime()
          .start(early, NEVER)
          .then(
            () => 'started',
            (error: unknown) => error,
          );
        for (let step = 0; step < steps; step++) await new Promise((resolve) => setImmediate(resolve));
        await runtime().stop('early', 1000);
        expect(await outcome).toBeInstanceOf(StartError);
        expect(await runtime().list()).toEqual([]);
        await runtime().forget('early');
      }
    });

    it('starts nothing a second time: a start of a running instance gives its address', async () => {
      const { spec, runtime } = await openFixture(setup);
      const twice = await spec('twice', 'globalThis.born = Math.random();');
      const [first, second] = await Promise.all([runtime().start(twice, NEVER), runtime().start(twice, NEVER)]);
      expect(second).toEqual(first);
      expect(await runtime().start(twice, NEVER)).toEqual(first);
      expect(await runtime().list()).toHaveLength(1);
    });

    it('never takes a listener of somebody else on its port for the bot', async () => {
      const { spec, runtime, shared } = await openFixture(setup);
      const ports = join(shared, 'ports');
      const silent = await spec(
        'silent',
        `listens = false; require('fs').appendFileSync('${ports}', process.env.PORT + ' '); setInterval(() => {}, 1000);`,
      );
      const strangers: Server[] = [];
      onTestFinished(() => {
        for (const stranger of strangers) stranger.close();
      });
      const starting = runtime().start(silent, NEVER);
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
        for (const port of named.slice(strangers.length)) {
          const stranger = createServer((_, response) => response.end());
          strangers.push(stranger);
          stranger.listen(Number(port), '127.0.0.1');
          await once(stranger, 'listening');
        }
        return settled;
      }, 20_000);
      expect(await outcome).toMatch(/3 times in a row: another program took its port/);
      expect(strangers).toHaveLength(3);
      expect(await runtime().list()).toEqual([]);
    });

    it('names a bot that listens on more than loopback', async () => {
      const { start, runtime } = await openFixture(setup);
      await start('wide', 'host = "0.0.0.0";');
      const event = await nextEvent(runtime(), 'noticed', 'wide', ({ notice }) => notice === 'listens-wide');
      expect(event.detail).toContain('0.0.0.0');
    });

    it('names a bot that opens itself to the network after it was ready', async () => {
      const { start, runtime } = await openFixture(setup);
      const address = await start('opens');
      const noticed = nextEvent(runtime(), 'noticed', 'opens', ({ notice }) => notice === 'listens-wide');
      await tellLast(
        address,
        'server.close(() => server.listen(Number(process.env.PORT), "0.0.0.0")); server.closeAllConnections()',
      );
      expect((await noticed).detail).toContain('0.0.0.0');
    });
  });
}
