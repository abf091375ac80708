import { once } from 'node:events';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { buildKillableProgram, readTextFilesRecursively } from '../../killable-program.ts';

const program = await buildKillableProgram();
afterAll(() => program.remove());

const choices = ['-t', 'lightrtc', '-m', 'realtime', '--realtime', 'openai_realtime', '--eval', '-n', 'demo'];

test('a killed command leaves the old project, the new project, or a partial change that "check" reports and "update" completes', async () => {
  const { run: botcli } = program;
  const folder = await program.ownFolder();
  const [old, whole] = [join(folder, 'old'), join(folder, 'whole')];
  expect(botcli(['init', old, ...choices]).status).toBe(0);
  const bot = join(old, 'server/bot.py');
  await writeFile(bot, (await readFile(bot, 'utf8')).replace('friendly', 'grumpy'));
  await cp(old, whole, { recursive: true });
  expect(botcli(['project', 'add', 'recording', whole, '--yes']).status).toBe(0);
  const [before, after] = [await readTextFilesRecursively(old), await readTextFilesRecursively(whole)];
  expect(after['server/bot.py']).toContain('grumpy');

  const seen = new Set<string>();
  for (let kill = 0; ; kill += 1) {
    const place = join(folder, `killed-${kill}`);
    await cp(old, place, { recursive: true });
    const { signal } = botcli(['project', 'add', 'recording', place, '--yes'], kill);
    if (signal === null) break;
    const left = await readTextFilesRecursively(place);
    const notes = await readdir(join(place, '.botcli'));
    if (left['.botcli/change.json'] === undefined) {
      const same = Object.keys(before).every((path) => left[path] === before[path]);
      seen.add(same ? 'old' : 'new');
      if (!same) expect(left).toMatchObject(after);
      // Check that the next change replaces the lock of the killed process.
      if (notes.length > 1) {
        expect(botcli(['project', 'update', place, '--yes']).status).toBe(0);
        expect(await readTextFilesRecursively(place)).toEqual(same ? before : after);
      }
    } else {
      seen.add('between');
      expect(botcli(['project', 'check', place]).stderr).toContain('an interrupted change left');
      expect(botcli(['project', 'update', place, '--yes']).status).toBe(0);
      expect(await readTextFilesRecursively(place)).toEqual(after);
    }
    expect((await readdir(join(place, '.botcli'))).filter((name) => name !== 'project.json')).toEqual([]);
  }
  expect([...seen].sort()).toEqual(['between', 'new', 'old']);
}, 300_000);

test('commands refuse to change a project that another botcli process is changing, and succeed after that process was killed', async () => {
  const { run, hang } = program;
  const folder = await program.ownFolder();
  const place = join(folder, 'two');
  expect(run(['init', place, ...choices]).status).toBe(0);
  // Kill the first process while it pauses between two of its renames.
  const first = await hang(['project', 'add', 'recording', place, '--yes'], 12);
  try {
    const refusals = [
      ['project', 'add', 'transcription', place, '--yes'],
      ['project', 'update', place, '--yes'],
      ['project', 'add', 'transcription', place, '--dry-run'],
      ['init', place, ...choices, '--force'],
    ].map((args) => run(args));
    for (const { status, stderr } of refusals) {
      expect({ status, stderr }).toEqual({
        status: 1,
        stderr: expect.stringContaining(
          `Another botcli process (PID ${first.pid}) is changing ${place}. Nothing was changed.`,
        ),
      });
    }
    expect(run(['project', 'check', place]).stderr).toContain('another botcli process is changing the files');
  } finally {
    first.kill('SIGKILL');
    await once(first, 'exit');
  }
  const second = run(['project', 'add', 'transcription', place, '--yes']);
  expect(second).toMatchObject({ status: 0, stderr: expect.stringContaining('Finishing an earlier change') });
  await expectFeatures(place, ['recording', 'transcription']);
}, 120_000);

test('init finishes an interrupted change before it overwrites the project', async () => {
  const { run, hang } = program;
  const place = join(await program.ownFolder(), 'demo');
  expect(run(['init', place, ...choices]).status).toBe(0);
  const before = await readTextFilesRecursively(place);
  const interrupted = await hang(['project', 'add', 'recording', place, '--yes'], 12);
  interrupted.kill('SIGKILL');
  await once(interrupted, 'exit');
  expect(run(['init', place, ...choices, '--force'])).toMatchObject({
    status: 0,
    stderr: expect.stringContaining('Finishing an earlier change'),
  });
  expect(await readTextFilesRecursively(place)).toEqual(before);
}, 120_000);

test('concurrent changes that replace the lock of a killed process leave a consistent project', async () => {
  const { run, hang } = program;
  const folder = await program.ownFolder();
  const place = join(folder, 'many');
  expect(run(['init', place, ...choices]).status).toBe(0);
  const dead = await hang(['project', 'add', 'recording', place, '--yes'], 1);
  dead.kill('SIGKILL');
  await once(dead, 'exit');
  expect(await readdir(join(place, '.botcli'))).toContain('change.lock');
  const features = ['recording', 'transcription', 'video-input', 'observability'];
  const done = await Promise.all(
    features.map(async (feature) => {
      const child = program.start(['project', 'add', feature, place, '--yes']);
      const [status] = await once(child, 'exit');
      return status === 0 ? [feature] : [];
    }),
  );
  expect(done.flat().length).toBeGreaterThan(0);
  await expectFeatures(place, done.flat());
}, 120_000);

/** Checks that exactly `features` are enabled, and that all files equal those of a new project with the same features. */
async function expectFeatures(place: string, features: readonly string[]): Promise<void> {
  const { configuration } = JSON.parse(await readFile(join(place, '.botcli/project.json'), 'utf8'));
  const names = {
    recording: 'recording',
    transcription: 'transcription',
    'video-input': 'video_input',
    observability: 'enable_observability',
  };
  for (const [feature, name] of Object.entries(names)) expect(configuration[name]).toBe(features.includes(feature));
  const copy = `${place}-by-init`;
  const given = features.map((feature) => `--${feature}`);
  expect(program.run(['init', copy, ...choices, ...given]).status).toBe(0);
  expect(await readTextFilesRecursively(place)).toEqual(await readTextFilesRecursively(copy));
}
