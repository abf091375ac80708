import { type Folder, type FolderEntry, iterateStream, PackingError, readArchiveAsFolder } from '@bothost/packing';

/** A folder or archive that a person chose. `open` is called once, when the project is read. */
export type ProjectSource = { readonly name: string; readonly open: () => Promise<Folder> };

const archivePattern = /\.(tar\.gz|tgz)$/i;

/** The directory of `<input webkitdirectory>`, with whose name each path begins. */
export function createSourceFromFiles(files: readonly File[]): ProjectSource {
  const [first] = files;
  if (first === undefined) {
    throw new PackingError('project-empty', 'The folder has no files.', 'Choose the folder that contains your bot.');
  }
  const root: FileTree = new Map();
  for (const file of files) addFile(root, file.webkitRelativePath.split('/').slice(1), file);
  return { name: first.webkitRelativePath.split('/')[0] ?? '', open: async () => treeFolder(root) };
}

export function createSourceFromArchive(file: File): ProjectSource {
  if (!archivePattern.test(file.name)) throw wrongKind(`${file.name} is not a folder or a .tar.gz archive.`);
  return { name: file.name.replace(archivePattern, ''), open: () => readArchiveAsFolder(file.stream()) };
}

/** Must be called synchronously in the drop event handler, because the browser removes the data when the handler returns. */
export function createSourceFromDrop({ items }: DataTransfer): ProjectSource {
  const entries = [...items].flatMap((item) => item.webkitGetAsEntry() ?? []);
  const [entry] = entries;
  if (entry === undefined || entries.length > 1) throw wrongKind('Drop one folder or one archive.');
  if (isDirectory(entry)) return { name: entry.name, open: async () => directoryFolder(entry) };
  const file = [...items][0]?.getAsFile();
  if (file == null) throw wrongKind(`${entry.name} cannot be read.`);
  return createSourceFromArchive(file);
}

function wrongKind(message: string): PackingError {
  return new PackingError(
    'project-unpackable',
    message,
    'Choose the folder of your project, or a .tar.gz archive of it.',
  );
}

type FileTree = Map<string, FileTree | File>;

function addFile(tree: FileTree, [name = '', ...rest]: readonly string[], file: File): void {
  if (rest.length === 0) {
    tree.set(name, file);
    return;
  }
  const known = tree.get(name);
  const folder: FileTree = known instanceof Map ? known : new Map();
  tree.set(name, folder);
  addFile(folder, rest, file);
}

function treeFolder(tree: FileTree): Folder {
  const entries = [...tree].map(([name, node]): FolderEntry => {
    if (node instanceof Map) return { name, kind: 'folder', ...treeFolder(node) };
    return { name, kind: 'file', size: async () => node.size, read: () => readFile(node) };
  });
  return { list: async () => entries };
}

function directoryFolder(directory: FileSystemDirectoryEntry): Folder {
  return { list: async () => (await readEntries(directory)).map(folderEntry) };
}

async function readEntries(directory: FileSystemDirectoryEntry): Promise<readonly FileSystemEntry[]> {
  const reader = directory.createReader();
  const all: FileSystemEntry[] = [];
  // `readEntries` returns the entries in batches. An empty batch marks the end.
  for (;;) {
    const batch = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
    if (batch.length === 0) return all;
    all.push(...batch);
  }
}

function folderEntry(entry: FileSystemEntry): FolderEntry {
  const { name } = entry;
  if (isDirectory(entry)) return { name, kind: 'folder', ...directoryFolder(entry) };
  if (!isFile(entry)) return { name, kind: 'unsupported', problem: 'is not a file or directory' };
  const open = () => new Promise<File>((resolve, reject) => entry.file(resolve, reject));
  return {
    name,
    kind: 'file',
    size: async () => (await open()).size,
    read: async function* () {
      yield* readFile(await open());
    },
  };
}

/** Reads a file in chunks. Throws if the file was changed after it was chosen, because browsers then refuse to read it. */
async function* readFile(file: File): AsyncGenerator<Uint8Array> {
  try {
    yield* iterateStream(file.stream());
  } catch {
    throw new PackingError(
      'project-changed',
      `${file.name} cannot be read, or was changed after you chose it.`,
      'Choose the folder again.',
    );
  }
}

function isDirectory(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}
