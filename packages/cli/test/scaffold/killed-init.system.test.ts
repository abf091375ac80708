import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { buildKillableProgram, readTextFilesRecursively } from '../killable-program.ts';
import { cascadeBotOptions } from './cascade-bot-options.ts';

const options = [...cascadeBotOptions, '-n', 'demo'];

const program = await buildKillableProgram();
const target = join(await program.ownFolder(), 'demo');
expect(program.run(['init', target, ...options]).status).toBe(0);
const whole = await readTextFilesRecursively(target);
afterAll(() => program.remove());

test('a killed init creates all files of a new directory or none, and the next run removes the temporary files', async () => {
  const { run } = program;
  const folder = await program.ownFolder();
  const seen = new Set<string>();
  for (let kill = 0; ; kill += 2) {
    const place = join(folder, `new-${kill}`);
    await mkdir(place);
    const { signal } = run(['init', join(place, 'demo'), ...options], kill);
    if (signal === null) break;
    const names = await readdir(place);
    seen.add(names.map((name) => name.replace(/^(\.botcli-init)-.*/, '$1')).join());
    if (names.includes('demo')) expect(await readTextFilesRecursively(join(place, 'demo'))).toEqual(whole);
    // A run with another target in the same parent directory must also remove the staging directory of the killed run.
    const next = kill % 4 === 0 ? 'demo' : 'other';
    expect(run(['init', join(place, next), ...options]).status).toBe(0);
    expect(await readTextFilesRecursively(join(place, next))).toEqual(whole);
    expect((await readdir(place)).filter((name) => name.startsWith('.'))).toEqual([]);
  }
  expect([...seen]).toEqual(expect.arrayContaining(['', '.botcli-init']));
}, 300_000);

test.each([[[]], [['--force']]])(
  'a killed init with the options %j leaves each file either unchanged or complete, and a repeated init completes the project',
  async (force) => {
    const { run } = program;
    const folder = await program.ownFolder();
    const mine = force.length === 0 ? ['notes.txt'] : ['README.md', 'server/bot.py', 'server/pyproject.toml'];
    const seen = new Set<string>();
    for (let kill = 0; ; kill += 2) {
      const target = join(folder, `existing-${kill}`, 'demo');
      await mkdir(join(target, 'server'), { recursive: true });
      for (const path of mine) await writeFile(join(target, path), 'mine\n');
      const init = ['init', target, ...options, ...force];
      const { signal } = run(init, kill);
      if (signal === null) break;
      const left = await readTextFilesRecursively(target);
      for (const path of mine) expect(['mine\n', whole[path]]).toContain(left[path]);
      const isWhole = Object.keys(whole).every((path) => left[path] === whole[path]);
      const isNew = Object.keys(whole).some((path) => left[path] === whole[path]);
      seen.add(isWhole ? 'new' : isNew ? 'between' : 'old');
      // `.botcli/project.json` is written last, so an incomplete project does not contain it.
      if (!isWhole) expect(left['.botcli/project.json']).toBeUndefined();
      expect(run(init).status).toBe(0);
      const kept = force.length === 0 ? { 'notes.txt': 'mine\n' } : {};
      expect(await readTextFilesRecursively(target)).toEqual({ ...whole, ...kept });
    }
    expect([...seen].sort()).toEqual(['between', 'new', 'old']);
  },
  300_000,
);
