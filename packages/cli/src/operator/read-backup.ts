import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { BackupChecksum, BackupManifest, backupEntryNames } from '@bothost/contract';
import { Parser, type ReadEntry } from 'tar';
import { Failure } from '../failure.ts';

type Entry = { readonly path: string; readonly content: AsyncIterable<Buffer> };

/** Maximum size in bytes of the first entry and of the last entry of a backup, which are JSON documents. */
const jsonBytes = 1_048_576;

/**
 * Reads a backup entry by entry, and checks that the backup is complete and undamaged. `take` must read the content of each entry
 * to its end. The archive may be compressed with gzip. Throws a `Failure` for anything that is not a complete backup.
 */
export async function readBackup(
  archive: AsyncIterable<Uint8Array>,
  take: (entry: Entry) => Promise<void>,
): Promise<BackupManifest> {
  const hash = createHash('sha256');
  let manifest: BackupManifest | null = null;
  let end: BackupChecksum | null = null;

  async function read(entry: ReadEntry): Promise<void> {
    if (end !== null) throw damaged();
    if (entry.path === backupEntryNames.last) {
      end = parse(BackupChecksum, await readText(entry));
      return;
    }
    hash.update(`${entry.path}\0`);
    if (manifest !== null) return take({ path: entry.path, content: hashed(entry) });
    const text = await readText(hashed(entry));
    if (entry.path !== backupEntryNames.first) throw notBackup();
    manifest = parse(BackupManifest, text);
    await take({ path: entry.path, content: only(Buffer.from(text)) });
  }

  async function* hashed(entry: ReadEntry): AsyncGenerator<Buffer> {
    for await (const chunk of entry as AsyncIterable<Buffer>) {
      hash.update(chunk);
      yield chunk;
    }
  }

  await parseTar(archive, read);
  // The cast is necessary, because TypeScript does not see that `read` assigns these variables.
  const found = { manifest, end } as { manifest: BackupManifest | null; end: BackupChecksum | null };
  if (found.manifest === null) throw notBackup();
  if (found.end === null) {
    throw new Failure('backup-incomplete', 'The backup is incomplete: its end is missing.', 'Create another backup.');
  }
  if (found.end.sha256 !== hash.digest('hex')) throw damaged();
  return found.manifest;
}

/** Calls `read` for one entry of an archive at a time. Rejects with the first error. */
async function parseTar(archive: AsyncIterable<Uint8Array>, read: (entry: ReadEntry) => Promise<void>): Promise<void> {
  const failed = new AbortController();
  let reading: Promise<void> = Promise.resolve();
  const parser = new Parser({
    strict: false,
    onReadEntry: (entry) => {
      reading = reading.then(async () => {
        if (failed.signal.aborted) return void entry.resume();
        await read(entry).catch((error: unknown) => {
          failed.abort(error);
          entry.resume();
        });
      });
    },
  });
  const ended = once(parser, 'end');
  // Without these handlers, a rejection of `ended` or an `error` event would end the process.
  ended.catch(() => undefined);
  parser.on('error', () => failed.abort(damaged()));
  for await (const chunk of archive) {
    if (failed.signal.aborted) break;
    // If the parser's buffer is full, wait until it accepts more data or has failed.
    if (!parser.write(Buffer.from(chunk))) await Promise.race([once(parser, 'drain'), ended]).catch(() => undefined);
  }
  failed.signal.throwIfAborted();
  parser.end();
  await ended.catch(() => undefined);
  await reading;
  failed.signal.throwIfAborted();
}

async function* only(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

async function readText(content: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of content as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > jsonBytes) throw notBackup();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse<T>(schema: { safeParse: (value: unknown) => { data?: T } }, text: string): T {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw notBackup();
  }
  const { data } = schema.safeParse(value);
  if (data === undefined) throw notBackup();
  return data;
}

function notBackup(): Failure {
  const hint = 'Pass a file that "botcli operator backup" of this or an earlier version created.';
  return new Failure('not-a-backup', 'This is not a bothost backup.', hint);
}

function damaged(): Failure {
  return new Failure('backup-damaged', 'The backup is damaged: its checksum does not match.', 'Use another backup.');
}
