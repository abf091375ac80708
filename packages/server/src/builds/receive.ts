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

/** Progress of an upload. `sizeBytes` is null until the size is known. */
export type UploadProgress = {
  readonly uploadId: string;
  readonly receivedBytes: number;
  readonly sizeBytes: number | null;
  readonly complete: boolean;
};

/**
 * Receives archives. The size of the file on the disk is the number of received bytes. The row records whether the upload is
 * complete, which requires a verified hash. All functions reject with failures of uploads.
 */
export type UploadReceiver = {
  readonly look: (uploadId: string, token: string) => Promise<UploadProgress>;
  /** Appends at `offset`, which must be the current size. Bytes of an interrupted body are kept. */
  readonly append: (uploadId: string, token: string, offset: number, body: Readable) => Promise<UploadProgress>;
  /** Replaces the content with a complete archive. */
  readonly replace: (uploadId: string, token: string, body: Readable) => Promise<UploadProgress>;
  /** Completes an upload that has all bytes, for example after a server was killed. */
  readonly settle: (upload: UploadRow) => Promise<UploadRow>;
  readonly receivedBytes: (upload: UploadRow) => Promise<number>;
};

export function createUploadReceiver(context: ReceiveContext): UploadReceiver {
  const { db, places } = context;
  const enqueue = createKeyedQueue();
  const current = new Map<string, AbortController>();

  /** One request per upload at a time. Interrupts the previous one: its client reconnected before its connection broke here. */
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

  /** Checked first: interrupting an upload needs the token too. */
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

  /** Verifies that all bytes match the announcement. Otherwise deletes them. */
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

  /** All bytes arrived but were not verified, or the archive of a complete upload is missing. */
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
    // A client that queries the progress is about to continue, so its earlier request is interrupted.
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
        if (written === 0) throw failure('upload-form-invalid', { message: 'The file that was uploaded is empty.' });
        return progress(await complete(upload));
      });
    },

    settle: async (upload) => {
      // Do not wait for a client that is still sending.
      if (!(await isUnsettled(upload))) return upload;
      return enqueue(upload.id, async () => settleNow((await findUpload(db, upload.id)) ?? upload));
    },
  };
}

/** A complete archive is never overwritten, because a build may use it. Equal content is a retry, other content an error. */
async function requireSame(upload: UploadRow, body: Readable): Promise<UploadRow> {
  const { contentHash } = await hashes(body);
  if (contentHash === upload.content_hash) return upload;
  throw failure('upload-content-wrong', { message: 'This upload is already complete, with different content.' });
}

/** Streams a body to the file at `offset` and syncs it. Returns the size of the file. */
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
    // Do not destroy a rejected body, because its connection still has to carry the response.
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

/** SHA-256, and the first 16 hex digits of the MD5, by which existing clients identify an archive. */
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
