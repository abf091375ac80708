import { gzipSync } from 'node:zlib';
import { Header } from 'tar';

export type TestTarEntry = {
  readonly path: string;
  readonly type?: string;
  readonly body?: string | Buffer;
  readonly linkpath?: string;
  readonly mode?: number;
};

export const endOfArchive = Buffer.alloc(1024);

/** An entry of a tar archive that a test builds itself, because tools refuse to write some malicious entries. */
export function createTarEntry(entry: TestTarEntry): Buffer {
  const body = Buffer.from(entry.body ?? '');
  const header = Buffer.alloc(512);
  new Header({
    path: 'x',
    type: (entry.type ?? 'File') as 'File',
    size: body.length,
    mode: entry.mode ?? 0o644,
    mtime: new Date(0),
  }).encode(header);
  header.fill(0, 0, 100);
  header.write(entry.path, 0, 100, 'utf8');
  header.fill(0, 157, 257);
  header.write(entry.linkpath ?? '', 157, 100, 'utf8');
  fixChecksum(header);
  return Buffer.concat([header, body, Buffer.alloc((512 - (body.length % 512)) % 512)]);
}

/** Recomputes the checksum of a changed header. */
export function fixChecksum(entry: Buffer): void {
  const header = entry.subarray(0, 512);
  header.fill(0x20, 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 8, 'latin1');
}

export function createPaxRecords(records: Readonly<Record<string, string>>): Buffer {
  const lines = Object.entries(records).map(([key, value]) => {
    const rest = ` ${key}=${value}\n`;
    let length = Buffer.byteLength(rest);
    while (Buffer.byteLength(String(length)) + Buffer.byteLength(rest) !== length) length += 1;
    return `${length}${rest}`;
  });
  return createTarEntry({ path: 'pax', type: 'ExtendedHeader', body: lines.join('') });
}

export const createTar = (...entries: (TestTarEntry | Buffer)[]) =>
  Buffer.concat([...entries.map((entry) => (Buffer.isBuffer(entry) ? entry : createTarEntry(entry))), endOfArchive]);
export const createArchive = (...entries: (TestTarEntry | Buffer)[]) => gzipSync(createTar(...entries));
