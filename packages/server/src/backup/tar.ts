import { createHash } from 'node:crypto';
import { type BackupChecksum, backupEntryNames } from '@bothost/contract';
import { Header } from 'tar';

/** A file in the archive. `content` yields exactly `size` bytes. */
export type TarEntry = { readonly path: string; readonly size: number; readonly content: AsyncIterable<Buffer> };

const blockBytes = 512;

/** Writes a tar archive that ends with a checksum of all entries. An archive without the checksum is incomplete. */
export async function* writeTar(entries: AsyncIterable<TarEntry>, at: Date): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  for await (const entry of entries) {
    hash.update(`${entry.path}\0`);
    for await (const { bytes, isContent } of tarEntry(entry, at)) {
      if (isContent) hash.update(bytes);
      yield bytes;
    }
  }
  const end: BackupChecksum = { sha256: hash.digest('hex') };
  for await (const { bytes } of tarEntry(createTextEntry(backupEntryNames.last, JSON.stringify(end)), at)) yield bytes;
  yield Buffer.alloc(2 * blockBytes);
}

export function createTextEntry(path: string, text: string): TarEntry {
  const bytes = Buffer.from(text);
  return {
    path,
    size: bytes.length,
    content: (async function* () {
      yield bytes;
    })(),
  };
}

async function* tarEntry({ path, size, content }: TarEntry, mtime: Date) {
  const header = Buffer.alloc(blockBytes);
  new Header({ path, size, mtime, mode: 0o600, uid: 0, gid: 0, type: 'File' }).encode(header);
  yield { bytes: header, isContent: false };
  for await (const bytes of content) yield { bytes, isContent: true };
  yield { bytes: Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes), isContent: false };
}
