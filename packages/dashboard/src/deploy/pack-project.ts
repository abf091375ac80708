import { type DeployFile, deployFileNames } from '@bothost/contract';
import {
  type Archive,
  checkProjectSize,
  type Folder,
  findProjectWarnings,
  listProjectFiles,
  PackingError,
  type ProjectFiles,
  parseDeployFile,
  readTextFile,
  writeArchive,
} from '@bothost/packing';
import type { ProjectSource } from './project-source.ts';

export type PackedProject = {
  /** The name of the folder or archive that the person chose. */
  readonly name: string;
  /** The deploy file, or null if the project has none. `path` is relative to the project's folder. */
  readonly deployFile: { readonly path: string; readonly content: DeployFile } | null;
  readonly project: ProjectFiles;
  readonly warnings: readonly string[];
  readonly archive: Archive & { readonly content: Blob };
};

/** Packs a project as `botcli cloud deploy` does. Calls `onProgress` with the current size of the archive in bytes. */
export async function packProject(
  source: ProjectSource,
  onProgress: (bytes: number) => void,
  signal: AbortSignal,
): Promise<PackedProject> {
  const root = await source.open();
  const found = await findDeployFile(root);
  const deployFile = found === null ? null : { path: found.path, content: found.content };
  const { context_dir, exclude } = found?.content.build ?? { context_dir: '.', exclude: { patterns: [] } };
  const folder = await findFolder(root, [...(found?.folder ?? []), ...context_dir.split('/')]);
  const project = await listProjectFiles(folder, exclude.patterns);
  checkProjectSize(project.files, null);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  const archive = await writeArchive(project.files, async (chunk) => {
    signal.throwIfAborted();
    chunks.push(chunk);
    bytes += chunk.length;
    onProgress(bytes);
  });
  checkProjectSize(project.files, archive);
  const warnings = await findProjectWarnings(project);
  return { name: source.name, deployFile, project, warnings, archive: { ...archive, content: new Blob(chunks) } };
}

/**
 * Finds the deploy file in a folder or in its subfolder `server`, where `botcli init` writes it. Returns null if there is none.
 */
async function findDeployFile(root: Folder) {
  const entries = await root.list();
  const server = entries.find(({ name, kind }) => name === 'server' && kind === 'folder');
  const places = [
    { folder: [] as string[], entries },
    ...(server?.kind === 'folder' ? [{ folder: ['server'], entries: await server.list() }] : []),
  ];
  for (const place of places) {
    for (const name of deployFileNames) {
      const text = await readTextFile(place.entries, name);
      if (text === null) continue;
      const path = [...place.folder, name].join('/');
      const content = parseDeployFile(text, path);
      if (content.build_id === undefined) return { folder: place.folder, path, content };
      throw new PackingError(
        'deploy-file-invalid',
        `${path} names an existing build (build_id), so the files of the folder would not be used.`,
        `To deploy the folder, remove build_id from ${path}. To deploy the existing build, run: npx botcli cloud deploy`,
      );
    }
  }
  return null;
}

/** Opens a subfolder. `path` may contain `.` and `..`. */
async function findFolder(root: Folder, path: readonly string[]): Promise<Folder> {
  const names: string[] = [];
  for (const name of path) {
    if (name === '' || name === '.') continue;
    if (name !== '..') names.push(name);
    else if (names.pop() === undefined) throw missingContext(path);
  }
  let folder = root;
  for (const name of names) {
    const entry = (await folder.list()).find((one) => one.name === name);
    if (entry?.kind !== 'folder') throw missingContext(path);
    folder = entry;
  }
  return folder;
}

function missingContext(path: readonly string[]): PackingError {
  return new PackingError(
    'project-missing',
    `The folder does not contain the directory ${path.join('/')}, which the deploy file names as context_dir.`,
    `Choose a folder that contains ${path.join('/')}, or correct context_dir.`,
  );
}
