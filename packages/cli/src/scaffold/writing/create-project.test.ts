import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createProject, removeOrphanedStagingDirectories } from './create-project.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'botcli-create-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

describe('createProject', () => {
  it('does not change a directory that another program creates at the same time', async () => {
    await mkdir(join(root, 'bot'));
    await writeFile(join(root, 'bot/README.md'), 'theirs\n');
    const files = [{ path: 'README.md', text: 'new\n' }];
    const create = () => createProject(join(root, 'bot'), files, new AbortController().signal);
    expect(create).toThrow(expect.objectContaining({ code: 'ENOTEMPTY' }));
    expect(await readFile(join(root, 'bot/README.md'), 'utf8')).toBe('theirs\n');
    expect(await readdir(root)).toEqual(['bot']);
  });
});

describe('removeOrphanedStagingDirectories', () => {
  it('removes only the staging directories of processes that have ended', async () => {
    const ended = spawnSync('true').pid;
    const others = [
      `.botcli-init-${process.ppid}-AbC123`,
      `.botcli-init-${ended}-AbC123.bak`,
      `my.botcli-init-${ended}-AbC123`,
    ];
    for (const name of [`.botcli-init-${ended}-AbC123`, ...others])
      await mkdir(join(root, name, 'project'), { recursive: true });
    removeOrphanedStagingDirectories(join(root, 'bot'));
    expect((await readdir(root)).sort()).toEqual([...others].sort());
  });
});
