import type { Folder, FolderEntry } from '../src/folder.ts';

/** A folder in memory. `texts` maps the path of each file to its content. */
export function createMemoryFolder(texts: Readonly<Record<string, string>>): Folder {
  const nested = new Map<string, Record<string, string>>();
  const entries: FolderEntry[] = [];
  for (const [path, text] of Object.entries(texts)) {
    const [name = '', ...rest] = path.split('/');
    if (rest.length === 0) entries.push(memoryFile(name, text));
    else nested.set(name, { ...nested.get(name), [rest.join('/')]: text });
  }
  for (const [name, inside] of nested) entries.push({ name, kind: 'folder', ...createMemoryFolder(inside) });
  return { list: async () => entries };
}

function memoryFile(name: string, text: string): FolderEntry {
  const bytes = new TextEncoder().encode(text);
  const read = async function* () {
    yield bytes;
  };
  return { name, kind: 'file', size: async () => bytes.length, read };
}
