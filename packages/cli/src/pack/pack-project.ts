import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Context } from '../command-line/context.ts';
import { formatBytes } from '../output/format.ts';
import { type Archive, writeArchive } from './archive.ts';
import { readExclusionRules } from './exclusion-rules.ts';
import { listProject, type ProjectFiles } from './project-files.ts';
import { checkSize } from './warnings.ts';

export type PackedProject = { readonly root: string; readonly project: ProjectFiles; readonly archive: Archive };

/** Packs a directory into a temporary archive, which is removed after `use`. */
export async function withPackedProject<T>(
  { io, messages }: Pick<Context, 'io' | 'messages'>,
  folder: string,
  excluded: readonly string[],
  use: (packed: PackedProject) => Promise<T>,
): Promise<T> {
  const root = await realpath(folder);
  messages.status('Packing');
  const project = await listProject(root, await readExclusionRules(root, excluded));
  checkSize(project.files, null);
  const directory = await mkdtemp(join(tmpdir(), 'botcli-'));
  try {
    const target = join(directory, 'project.tar.gz');
    const archive = await writeArchive(root, project.files, target, io.signal, (bytes) =>
      messages.status(`Packing, ${formatBytes(bytes)}`),
    );
    checkSize(project.files, archive);
    messages.status(null);
    return await use({ root, project, archive });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
