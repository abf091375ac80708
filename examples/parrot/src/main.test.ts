import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { afterAll, expect, test } from 'vitest';

/** Runs the bot like the service does: one built file in a directory without node_modules. */
const folder = await mkdtemp(join(tmpdir(), 'parrot-'));
const root = fileURLToPath(new URL('..', import.meta.url));
await build({ root, logLevel: 'error', build: { outDir: folder, emptyOutDir: true } });
afterAll(() => rm(folder, { recursive: true, force: true }));

const run = (env: Record<string, string>): ChildProcess =>
  spawn(execPath, [join(folder, 'main.js')], { env, stdio: ['ignore', 'pipe', 'inherit'] });

async function firstLine(bot: ChildProcess): Promise<string> {
  const [line] = await once(bot.stdout ?? bot, 'data');
  return String(line);
}

test('the built bot runs without node_modules, uses CPU on POST /burn, and exits with status 0 on SIGTERM', async () => {
  const bot = run({ PORT: '0' });
  const url = `http://127.0.0.1:${/listening on 127\.0\.0\.1:(\d+)/.exec(await firstLine(bot))?.[1]}`;
  const exited = once(bot, 'exit');
  const session = fetch(`${url}/bot`, { method: 'POST', body: '{}' });
  const burnt = await fetch(`${url}/burn`, { method: 'POST', body: '{"megabytes": 1, "seconds": 0.01}' });
  expect(await burnt.json()).toMatchObject({ megabytes: 1 });
  await expect.poll(async () => (await fetch(`${url}/_bot/session`)).json()).toMatchObject({ state: 'running' });
  bot.kill('SIGTERM');
  expect((await session).status).toBe(200);
  expect(await exited).toEqual([0, null]);
});

test('the built bot exits with status 1 and a message if PORT is invalid', async () => {
  const bot = run({ PORT: 'http' });
  const exited = once(bot, 'exit');
  expect(await firstLine(bot)).toMatch(/cannot start: PORT must be a number/);
  expect((await exited)[0]).toBe(1);
});
