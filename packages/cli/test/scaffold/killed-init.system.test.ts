import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { clearDeadStages } from '../../src/scaffold/writing/stage.ts';
import { buildKilledProgram, type KilledProgram, textsIn } from '../killable-program.ts';
import { cascadeOptions } from './cascade-options.ts';

let program: KilledProgram;
beforeAll(async () => {
  program = await buildKilledProgram();
});
afterAll(() => program.remove());

const stagesIn = async (place: string) => (await readdir(place)).filter((name) => name.startsWith('.botcli-'));

test('what a killed init leaves beside its target, the next one clears, wherever it was killed', async () => {
  const { run } = program;
  const folder = await program.ownFolder();
  let most = 0;
  for (let kill = 0; ; kill += 2) {
    const place = join(folder, `new-${kill}`);
    await mkdir(place);
    const { signal } = run(['init', join(place, 'demo'), ...cascadeOptions], kill);
    if (signal === null) break;
    most = Math.max(most, (await stagesIn(place)).length);
    // Another target in the same place does as well.
    expect(run(['init', join(place, kill % 4 === 0 ? 'demo' : 'other'), ...cascadeOptions]).status).toBe(0);
    expect(await stagesIn(place)).toEqual([]);
  }
  expect(most).toBe(1);
}, 300_000);

test('a kill amid --force loses nothing: a file that nothing took the place of is back', async () => {
  const { run } = program;
  const folder = await program.ownFolder();
  const whole = join(folder, 'whole/demo');
  expect(run(['init', whole, ...cascadeOptions]).status).toBe(0);
  const made = await textsIn(whole);
  const mine = Object.keys(made).filter((path) => path === 'README.md' || path.startsWith('server/'));
  const was = new Set<string>();
  for (let kill = 0; ; kill += 2) {
    const target = join(folder, `forced-${kill}`, 'demo');
    await mkdir(join(target, 'server'), { recursive: true });
    for (const path of mine) await writeFile(join(target, path), 'mine\n');
    const { signal } = run(['init', target, ...cascadeOptions, '--force'], kill);
    if (signal === null) break;
    const after = await textsIn(target);
    was.add(mine.every((path) => after[path] !== undefined) ? 'there' : 'away');
    clearDeadStages(target);
    expect(await stagesIn(dirname(target))).toEqual([]);
    const cleared = await textsIn(target);
    for (const path of mine) expect(['mine\n', made[path]]).toContain(cleared[path]);
  }
  expect([...was].sort()).toEqual(['away', 'there']);
}, 300_000);
