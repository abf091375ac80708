import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  evaluateCodeThatMayExit,
  evaluateInInstance,
  listRunning,
  openRuntimeFixture,
  type SourceRuntimeSetup,
  waitForEvent,
} from './fixture.ts';

const neverAborted = new AbortController().signal;

/** Tests the start of bots that share the network of this machine: their sockets, ports and variables. */
export function defineLocalStartTests(setup: SourceRuntimeSetup): void {
  describe('a runtime driver at the start of a bot on this machine', () => {
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
        'BOTHOST_CONVERSATION_FILE',
        'BOTHOST_RECORDING_FILE',
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
