import { mkdtemp, open, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatBytes } from '@bothost/contract';
import {
  checkProjectSize,
  findProjectWarnings,
  listProjectFiles,
  type ProjectFiles,
  writeArchive,
} from '@bothost/packing';
import type { CommandContext } from '../command-line/context.ts';
import type { ArchiveFile } from './archive-file.ts';
import { openDiskFolder } from './disk-folder.ts';
import { convertPackingError } from './packing-failure.ts';

export type PackedProject = {
  readonly project: ProjectFiles;
  readonly warnings: readonly string[];
  readonly archive: ArchiveFile;
};

/** Packs a directory into a temporary archive and passes it to `use`. Removes the archive when `use` has finished or failed. */
export async function withPackedProject<T>(
  context: Pick<CommandContext, 'io' | 'messages'>,
  folder: string,
  excluded: readonly string[],
  use: (packed: PackedProject) => Promise<T>,
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), 'botcli-'));
  try {
    const target = join(directory, 'project.tar.gz');
    const packed = await pack(context, await realpath(folder), excluded, target).catch((error: unknown) => {
      throw convertPackingError(error);
    });
    return await use(packed);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function pack(
  { io, messages }: Pick<CommandContext, 'io' | 'messages'>,
  root: string,
  excluded: readonly string[],
  target: string,
): Promise<PackedProject> {
  messages.status('Packing');
  const project = await listProjectFiles(openDiskFolder(root, root), excluded);
  checkProjectSize(project.files, null);
  const archive = await writeFile(target, project, (bytes) => {
    io.signal.throwIfAborted();
    messages.status(`Packing, ${formatBytes(bytes)}`);
  });
  checkProjectSize(project.files, archive);
  messages.status(null);
  return { project, warnings: await findProjectWarnings(project), archive };
}

/** Calls `onProgress` with the current size of the archive after each chunk. */
async function writeFile(
  path: string,
  { files }: ProjectFiles,
  onProgress: (bytes: number) => void,
): Promise<ArchiveFile> {
  const file = await open(path, 'wx', 0o600);
  let bytes = 0;
  try {
    const archive = await writeArchive(files, async (chunk) => {
      await file.writeFile(chunk);
      bytes += chunk.length;
      onProgress(bytes);
    });
    return { path, ...archive };
  } finally {
    await file.close();
  }
}
