import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildProgram } from '../../testing/build-program.ts';

/** The built program, killed by SIGKILL right before each of its changes to the file system in turn. */
let program: string;
let folder: string;
const killAt = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
let left = Number(process.env.KILL_AT);
for (const name of ['renameSync', 'rmSync', 'writeFileSync', 'mkdirSync', 'chmodSync']) {
  const real = fs[name];
  fs[name] = (...args) => {
    if (left-- === 0) process.kill(process.pid, 'SIGKILL');
    return real(...args);
  };
}
syncBuiltinESMExports();
`;

beforeAll(async () => {
  program = await buildProgram();
  folder = await mkdtemp(join(tmpdir(), 'botcli-killed-'));
  await writeFile(join(folder, 'kill.mjs'), killAt);
});
afterAll(async () => {
  for (const place of [program, folder]) await rm(place, { recursive: true, force: true });
});

function botcli(args: readonly string[], kill: number | null = null) {
  const flags = kill === null ? [] : ['--import', join(folder, 'kill.mjs')];
  const env = { HOME: folder, KILL_AT: String(kill) };
  return spawnSync(execPath, [...flags, join(program, 'bin/botcli.js'), ...args], { env, encoding: 'utf8' });
}

async function textsIn(place: string): Promise<Record<string, string>> {
  const entries = await readdir(place, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const texts = files.map(async (file) => [file.slice(place.length + 1), await readFile(file, 'utf8')] as const);
  return Object.fromEntries(await Promise.all(texts));
}

test('a change that is killed anywhere leaves all as it was, or is told by check and finished by update', async () => {
  const [old, whole] = [join(folder, 'old'), join(folder, 'whole')];
  const choices = ['-t', 'lightrtc', '-m', 'realtime', '--realtime', 'openai_realtime', '--eval', '-n', 'demo'];
  expect(botcli(['init', old, ...choices]).status).toBe(0);
  const bot = join(old, 'server/bot.py');
  await writeFile(bot, (await readFile(bot, 'utf8')).replace('friendly', 'grumpy'));
  await cp(old, whole, { recursive: true });
  expect(botcli(['project', 'add', 'recording', whole, '--yes']).status).toBe(0);
  const [before, after] = [await textsIn(old), await textsIn(whole)];
  expect(after['server/bot.py']).toContain('grumpy');

  const seen = new Set<string>();
  for (let kill = 0; ; kill += 1) {
    const place = join(folder, `killed-${kill}`);
    await cp(old, place, { recursive: true });
    const { signal } = botcli(['project', 'add', 'recording', place, '--yes'], kill);
    if (signal === null) break;
    const left = await textsIn(place);
    if (left['.botcli/change.json'] === undefined) {
      const same = Object.keys(before).every((path) => left[path] === before[path]);
      seen.add(same ? 'old' : 'new');
      if (!same) expect(left).toMatchObject(after);
    } else {
      seen.add('between');
      expect(botcli(['project', 'check', place]).stderr).toContain('a change was broken off');
      expect(botcli(['project', 'update', place, '--yes']).status).toBe(0);
      expect(await textsIn(place)).toEqual(after);
    }
  }
  expect([...seen].sort()).toEqual(['between', 'old']);
}, 120_000);
