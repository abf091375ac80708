import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildKilledProgram, type KilledProgram, textsIn } from '../../scaffold/testing/killed-program.ts';

let program: KilledProgram;
beforeAll(async () => {
  program = await buildKilledProgram();
});
afterAll(() => program.remove());

test('a change that is killed anywhere leaves all as it was, or is told by check and finished by update', async () => {
  const { folder, run: botcli } = program;
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
