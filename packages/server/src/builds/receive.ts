import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, stat, truncate } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { failure, uploadBytes } from '@bothost/contract';
import { createKeyedQueue } from '@bothost/runtime/keyed-queue';
import type { Database } from '../store/tables.ts';
import { type DiskSpace, isDiskFull } from './disk-space.ts';
import type { Places } from './places.ts';
import { reopenBuildsOf } from './rows.ts';
import { completeUploadRow, findUpload, reopenUpload, touchUpload, type UploadRow } from './upload-rows.ts';
import { isUploadToken } from './upload-token.ts';

export type ReceiveContext = {
  readonly db: Database;
  readonly now: () => Date;
  readonly host: { readonly region: string };
  readonly places: Places;
  readonly uploadTokenKey: Buffer;
  readonly disk: Pick<DiskSpace, 'require'>;
};

/** Progress of an upload. `sizeBytes` is null until the total size is known. */
export type UploadProgress = {
  readonly uploadId: string;
  readonly receivedBytes: number;
  readonly sizeBytes: number | null;
  readonly complete: boolean;
};

/**
 * Receives archives. The size of the file on disk is the number of received bytes; the database row records whether the
 * upload is complete, which requires a verified hash. All functions reject with upload failures.
 */
export type UploadReceiver = {
  readonly look: (uploadId: string, token: string) => Promise<UploadProgress>;
  /**
   * Appends bytes at `offset`, which must be the current size of the file. If the request is interrupted, the bytes
   * received so far are kept.
   */
  readonly append: (uploadId: string, token: string, offset: number, body: Readable) => Promise<UploadProgress>;
  /** Replaces the content of the upload with a complete archive. */
  readonly replace: (uploadId: string, token: string, body: Readable) => Promise<UploadProgress>;
  /**
   * Completes an upload whose bytes have all arrived but were not verified, for example because a server was killed.
   */
  readonly settle: (upload: UploadRow) => Promise<UploadRow>;
  readonly receivedBytes: (upload: UploadRow) => Promise<number>;
};

export function createUploadReceiver(context: ReceiveContext): UploadReceiver {
  const { db, places } = context;
  const enqueue = createKeyedQueue();
  const current = new Map<string, AbortController>();

  /**
   * Allows one request at a time per upload. A new request interrupts the previous one, because a client may reconnect
   * before the loss of its connection is noticed here.
   */
  async function takeOver<T>(uploadId: string, work: (interrupted: AbortSignal) => Promise<T>): Promise<T> {
    const own = new AbortController();
    current.get(uploadId)?.abort();
    current.set(uploadId, own);
    try {
      return await enqueue(uploadId, () => work(own.signal));
    } finally {
      if (current.get(uploadId) === own) current.delete(uploadId);
    }
  }

  /** Check the token before interrupting another request of the upload. */
  function requireToken(uploadId: string, token: string): void {
    if (!isUploadToken(context.uploadTokenKey, uploadId, token, context.now())) throw failure('upload-token-invalid');
  }

  async function requireOwn(uploadId: string): Promise<UploadRow> {
    const upload = await findUpload(db, uploadId);
    if (upload === undefined || upload.region !== context.host.region) throw failure('upload-not-found');
    return upload;
  }

  async function receivedBytes(upload: UploadRow): Promise<number> {
    return (await stat(places.archive(upload.id)).catch(() => null))?.size ?? 0;
  }

  async function progress(upload: UploadRow): Promise<UploadProgress> {
    return {
      uploadId: upload.id,
      receivedBytes: await receivedBytes(upload),
      sizeBytes: upload.size_bytes,
      complete: upload.state === 'complete',
    };
  }

  /** Verifies that the received bytes match the announced hash and size. Otherwise, deletes them. */
  async function complete(upload: UploadRow): Promise<UploadRow> {
    const path = places.archive(upload.id);
    const found = await hashes(createReadStream(path, { highWaterMark: 256 * 1024 }));
    if (upload.announced && (found.contentHash !== upload.content_hash || found.bytes !== upload.size_bytes)) {
      await places.removeTree(path);
      throw failure('upload-content-wrong');
    }
    const content = { content_hash: found.contentHash, context_hash: found.contextHash, size_bytes: found.bytes };
    const now = context.now();
    return db.transaction().execute(async (transaction) => {
      const row = await completeUploadRow(transaction, upload.id, { ...content, updated_at: now });
      if (row === undefined) throw failure('upload-not-found');
      await reopenBuildsOf(transaction, upload.id, now);
      return row;
    });
  }

  /** Whether all bytes have arrived but were not verified, or the archive of a complete upload is missing. */
  async function isUnsettled(upload: UploadRow): Promise<boolean> {
    const isAllThere = (await receivedBytes(upload)) === upload.size_bytes;
    return upload.state === 'complete' ? !isAllThere : upload.announced && isAllThere;
  }

  async function settleNow(upload: UploadRow): Promise<UploadRow> {
    if (!(await isUnsettled(upload))) return upload;
    if (upload.state === 'open') return complete(upload);
    await places.removeTree(places.archive(upload.id));
    return (await reopenUpload(db, upload.id, context.now())) ?? upload;
  }

  return {
    receivedBytes,
    // A client that asks for the progress is about to resume the upload, so its earlier request is interrupted.
    look: async (uploadId, token) => {
      requireToken(uploadId, token);
      return takeOver(uploadId, async () => progress(await settleNow(await requireOwn(uploadId))));
    },

    append: async (uploadId, token, offset, body) => {
      requireToken(uploadId, token);
      return takeOver(uploadId, async (interrupted) => {
        const upload = await requireOwn(uploadId);
        if (!upload.announced || upload.size_bytes === null) throw failure('upload-not-resumable');
        if (offset !== (await receivedBytes(upload))) throw failure('upload-offset-wrong');
        if (upload.state === 'open') {
          await touchUpload(db, upload.id, context.now());
          await context.disk.require(upload.size_bytes - offset);
          await write(places.archive(upload.id), offset, upload.size_bytes, body, interrupted);
        }
        return progress(await settleNow(upload));
      });
    },

    replace: async (uploadId, token, body) => {
      requireToken(uploadId, token);
      return takeOver(uploadId, async (interrupted) => {
        const upload = await requireOwn(uploadId);
        if (upload.state === 'complete') return progress(await requireSame(upload, body));
        await touchUpload(db, upload.id, context.now());
        await context.disk.require(upload.size_bytes ?? 0);
        const path = places.archive(upload.id);
        const written = await write(path, 0, upload.size_bytes ?? uploadBytes, body, interrupted);
        if (written === 0) throw failure('upload-form-invalid', { message: 'The uploaded file is empty.' });
        return progress(await complete(upload));
      });
    },

    settle: async (upload) => {
      // An upload in progress is not settled, so return without waiting for the client that is still sending.
      if (!(await isUnsettled(upload))) return upload;
      return enqueue(upload.id, async () => settleNow((await findUpload(db, upload.id)) ?? upload));
    },
  };
}

/**
 * Compares a body with a complete archive, which is never overwritten because a build may use it. The same content is a
 * retry; different content is an error.
 */
async function requireSame(upload: UploadRow, body: Readable): Promise<UploadRow> {
  const { contentHash } = await hashes(body);
  if (contentHash === upload.content_hash) return upload;
  throw failure('upload-content-wrong', { message: 'This upload is already complete, with different content.' });
}

/** Streams a body to the upload's file at `offset` and syncs the file. Returns the size of the file. */
async function write(
  path: string,
  offset: number,
  limit: number,
  body: Readable,
  interrupted: AbortSignal,
): Promise<number> {
  const stop = () => body.destroy();
  interrupted.addEventListener('abort', stop);
  let file: FileHandle | null = null;
  let size = offset;
  try {
    file = await open(path, 'a', 0o600);
    await truncate(path, offset);
    if (interrupted.aborted) stop();
    // Do not destroy the body if it is rejected, because the response is sent over the same connection.
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (size + chunk.length > limit) throw failure('archive-too-large');
      await file.appendFile(chunk);
      size += chunk.length;
    }
    await file.sync();
    return size;
  } catch (error) {
    if (interrupted.aborted)
      throw failure('upload-offset-wrong', { message: 'Another request continues this upload.' });
    throw isDiskFull(error) ? failure('storage-full', { cause: error }) : error;
  } finally {
    interrupted.removeEventListener('abort', stop);
    await file?.close();
  }
}

/**
 * Returns the SHA-256 of an archive, and the first 16 hex digits of its MD5, by which existing clients identify an
 * archive.
 */
async function hashes(bytes: Readable): Promise<{ contentHash: string; contextHash: string; bytes: number }> {
  const sha256 = createHash('sha256');
  const md5 = createHash('md5');
  let size = 0;
  for await (const chunk of bytes as AsyncIterable<Buffer>) {
    sha256.update(chunk);
    md5.update(chunk);
    size += chunk.length;
  }
  return { contentHash: sha256.digest('hex'), contextHash: md5.digest('hex').slice(0, 16), bytes: size };
}
