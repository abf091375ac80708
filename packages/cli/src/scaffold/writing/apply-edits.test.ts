import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { applyEdits, finishInterruptedChange, readInterruptedChange } from './apply-edits.ts';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'botcli-change-'));
  await mkdir(join(directory, '.botcli'));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const { signal } = new AbortController();
const files = async () => (await readdir(directory, { recursive: true })).sort();

describe('applyEdits', () => {
  it('creates, replaces and removes files, and keeps the mode of a file', async () => {
    await writeFile(join(directory, 'run.sh'), 'old\n');
    await chmod(join(directory, 'run.sh'), 0o755);
    await writeFile(join(directory, 'gone.txt'), 'old\n');
    const edits = [
      { path: 'run.sh', before: 'old\n', after: 'new\n' },
      { path: 'gone.txt', before: 'old\n', after: null },
      { path: 'client/src/main.ts', before: null, after: 'new\n' },
    ];
    applyEdits(directory, edits, signal);
    expect(await files()).toEqual(['.botcli', 'client', 'client/src', 'client/src/main.ts', 'run.sh']);
    expect(await readFile(join(directory, 'run.sh'), 'utf8')).toBe('new\n');
    expect((await stat(join(directory, 'run.sh'))).mode & 0o777).toBe(0o755);
  });

  it('restores all files if another program creates one of the files at the same time', async () => {
    const bytes = Buffer.from([0xff, 0x0a]);
    await writeFile(join(directory, 'README.md'), bytes);
    await writeFile(join(directory, 'server.py'), 'theirs\n');
    const edits = [
      { path: 'README.md', before: bytes.toString(), after: 'new\n' },
      { path: 'client/main.ts', before: null, after: 'new\n' },
      { path: 'server.py', before: null, after: 'new\n' },
    ];
    expect(() => applyEdits(directory, edits, signal)).toThrow(expect.objectContaining({ reason: 'files-changed' }));
    expect(await files()).toEqual(['.botcli', 'README.md', 'server.py']);
    expect(await readFile(join(directory, 'README.md'))).toEqual(bytes);
    expect(await readFile(join(directory, 'server.py'), 'utf8')).toBe('theirs\n');
  });

  it('replaces a link at the path of its temporary file instead of writing through it', async () => {
    const victim = join(directory, '.botcli/victim');
    await writeFile(victim, 'untouched\n');
    await symlink(victim, join(directory, 'README.md.botcli-new'));
    applyEdits(directory, [{ path: 'README.md', before: null, after: 'new\n' }], signal);
    expect(await readFile(victim, 'utf8')).toBe('untouched\n');
    expect((await lstat(join(directory, 'README.md'))).isFile()).toBe(true);
  });

  it('changes nothing while the journal of another change exists', async () => {
    await writeFile(join(directory, '.botcli/change.json'), '');
    const edits = [{ path: 'README.md', before: null, after: 'new\n' }];
    expect(() => applyEdits(directory, edits, signal)).toThrow(expect.objectContaining({ reason: 'files-changed' }));
    expect(await files()).toEqual(['.botcli', '.botcli/change.json']);
  });
});

describe('finishInterruptedChange', () => {
  it('applies the remaining edits, and skips files that were edited after the interruption', async () => {
    await writeFile(join(directory, 'old.txt'), 'old\n');
    await writeFile(join(directory, 'edited.txt'), 'mine\n');
    await writeFile(join(directory, 'new.txt.botcli-new'), 'ne');
    const edits = [
      { path: 'old.txt', before: 'old\n', after: 'new\n' },
      { path: 'edited.txt', before: 'old\n', after: 'new\n' },
      { path: 'new.txt', before: null, after: 'new\n' },
    ];
    await writeFile(join(directory, '.botcli/change.json'), JSON.stringify({ edits }));
    expect(readInterruptedChange(directory)).toEqual(edits);
    expect(finishInterruptedChange(directory, edits)).toEqual(['edited.txt']);
    expect(await files()).toEqual(['.botcli', 'edited.txt', 'new.txt', 'old.txt']);
    expect(await readFile(join(directory, 'old.txt'), 'utf8')).toBe('new\n');
    expect(await readFile(join(directory, 'edited.txt'), 'utf8')).toBe('mine\n');
  });
});

describe('readInterruptedChange', () => {
  it.each(['', '{', '{"edits":{}}', '{"edits":[{"path":"../x","before":null,"after":"x"}]}'])(
    'ignores the invalid journal %j',
    async (journal) => {
      await writeFile(join(directory, '.botcli/change.json'), journal);
      expect(readInterruptedChange(directory)).toBeNull();
    },
  );
});
