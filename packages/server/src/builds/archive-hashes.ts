import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { createApiError, unpackedArchiveLimits } from '@bothost/contract';
import { ArchiveError } from './archive-error.ts';
import { enforceUnpackedSizeLimits } from './tar-entries.ts';

/** `contextHash` is the first 16 hexadecimal digits of the MD5, by which existing clients identify an archive. */
export type ArchiveHashes = { readonly sha256: string; readonly contextHash: string; readonly bytes: number };

/** Hashes the compressed bytes of an archive. */
export async function hashArchive(bytes: Readable): Promise<ArchiveHashes> {
  const sha256 = createHash('sha256');
  const md5 = createHash('md5');
  let size = 0;
  for await (const chunk of bytes as AsyncIterable<Buffer>) {
    sha256.update(chunk);
    md5.update(chunk);
    size += chunk.length;
  }
  return { sha256: sha256.digest('hex'), contextHash: md5.digest('hex').slice(0, 16), bytes: size };
}

/**
 * Returns the SHA-256 of the tar archive in a tar.gz archive, in hexadecimal. Returns null if the archive is damaged or is not a
 * gzip file, and an `ArchiveError` if the tar archive is larger than a build accepts.
 *
 * @throws failure `shutting-down` if `signal` aborts
 */
export async function hashTarInArchive(
  archive: { readonly path: string; readonly bytes: number },
  signal: AbortSignal,
): Promise<string | ArchiveError | null> {
  const sha256 = createHash('sha256');
  const compressed = createReadStream(archive.path, { signal });
  const decompressed = createGunzip({ chunkSize: 256 * 1024 });
  compressed.on('error', (error) => decompressed.destroy(error));
  compressed.pipe(decompressed);
  let bytes = 0;
  try {
    for await (const chunk of decompressed as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      enforceUnpackedSizeLimits(bytes, archive.bytes, unpackedArchiveLimits);
      sha256.update(chunk);
    }
    return sha256.digest('hex');
  } catch (error) {
    if (signal.aborted) throw createApiError('shutting-down', { message: 'The service is shutting down. Try again.' });
    if (error instanceof ArchiveError) return error;
    const { code } = error as { readonly code?: unknown };
    if (code === 'Z_DATA_ERROR' || code === 'Z_BUF_ERROR') return null;
    throw error;
  } finally {
    compressed.destroy();
    decompressed.destroy();
  }
}
