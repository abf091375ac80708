import { createReadStream } from 'node:fs';
import { type FileHandle, open, stat, truncate } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { type ApiError, createApiError, maxUploadBytes } from '@bothost/contract';
import { createKeyedQueue } from '@bothost/runtime/keyed-queue';
import { isFileSystemFull } from '../store/full-disk.ts';
import type { StoreContext } from '../store/store-context.ts';
import { ArchiveError } from './archive-error.ts';
import { type ArchiveHashes, hashArchive, hashTarInArchive } from './archive-hashes.ts';
import type { BuildDirectories } from './build-directories.ts';
import type { DiskSpaceGuard } from './disk-space.ts';
import { reopenBuildsOfUpload } from './rows.ts';
import { completeUploadRow, findUpload, markUploadUsed, reopenUpload, type UploadRow } from './upload-rows.ts';
import { isValidUploadToken } from './upload-token.ts';

export type UploadReceiverContext = Pick<StoreContext, 'db' | 'now'> & {
  readonly host: { readonly region: string };
  readonly directories: BuildDirectories;
  readonly uploadTokenKey: Buffer;
  readonly disk: Pick<DiskSpaceGuard, 'require'>;
  /** Aborts when the server closes. The verification of an archive then stops. */
  readonly closing: AbortSignal;
};

/** Progress of an upload. `sizeBytes` is null until the total size is known. */
export type UploadProgress = {
  readonly uploadId: string;
  readonly receivedBytes: number;
  readonly sizeBytes: number | null;
  readonly complete: boolean;
};

/**
 * Receives archives. The size of the file on disk is the number of received bytes. The database row records whether the
 * upload is complete: all bytes have arrived and their hash is verified. The functions reject with failures such as
 * `upload-not-found`.
 */
export type UploadReceiver = {
  readonly readProgress: (uploadId: string, token: string) => Promise<UploadProgress>;
  /** Appends a body at `offset`, which must be the file's size. Keeps the bytes of an interrupted request. */
  readonly append: (uploadId: string, token: string, offset: number, body: Readable) => Promise<UploadProgress>;
  /** Replaces the content of the upload with a complete archive. */
  readonly replace: (uploadId: string, token: string, body: Readable) => Promise<UploadProgress>;
  /** Verifies a fully received upload, for example after a crash. Reopens a complete upload without its archive. */
  readonly settle: (upload: UploadRow) => Promise<UploadRow>;
  readonly receivedBytes: (upload: UploadRow) => Promise<number>;
};

export function createUploadReceiver(receiverContext: UploadReceiverContext): UploadReceiver {
  const context = { ...receiverContext, decompressInTurn: createKeyedQueue() };
  const { db, directories } = context;
  const enqueue = createKeyedQueue();
  const current = new Map<string, AbortController>();

  /** Runs requests for an upload one at a time. A new one aborts the previous, whose connection may be lost. */
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

  return {
    receivedBytes: (upload) => receivedBytes(context, upload),
    // A client asks for the progress before it resumes an upload. So abort the client's earlier request for the same upload,
    // whose connection may be lost.
    readProgress: async (uploadId, token) => {
      requireToken(context, uploadId, token);
      return takeOver(uploadId, async () =>
        progress(context, await settleNow(context, await requireOwn(context, uploadId))),
      );
    },

    append: async (uploadId, token, offset, body) => {
      requireToken(context, uploadId, token);
      return takeOver(uploadId, async (interrupted) => {
        const upload = await requireOwn(context, uploadId);
        if (!upload.announced || upload.size_bytes === null) throw createApiError('upload-not-resumable');
        if (offset !== (await receivedBytes(context, upload))) throw createApiError('upload-offset-wrong');
        if (upload.state === 'open') {
          await markUploadUsed(db, upload.id, context.now());
          context.disk.require(upload.size_bytes - offset);
          await write(directories.archive(upload.id), offset, upload.size_bytes, body, interrupted);
        }
        return progress(context, await settleNow(context, upload));
      });
    },

    replace: async (uploadId, token, body) => {
      requireToken(context, uploadId, token);
      return takeOver(uploadId, async (interrupted) => {
        const upload = await settleNow(context, await requireOwn(context, uploadId));
        if (upload.state === 'complete') return progress(context, await requireSame(context, upload, body));
        await markUploadUsed(db, upload.id, context.now());
        context.disk.require(upload.size_bytes ?? 0);
        const path = directories.archive(upload.id);
        const written = await write(path, 0, upload.size_bytes ?? maxUploadBytes, body, interrupted);
        if (written === 0) throw createApiError('upload-form-invalid', { message: 'The uploaded file is empty.' });
        return progress(context, await complete(context, upload));
      });
    },

    settle: async (upload) => {
      // Do not wait for an upload in progress to end, because its client may send slowly.
      if (!(await isUnsettled(context, upload))) return upload;
      return enqueue(upload.id, async () => settleNow(context, (await findUpload(db, upload.id)) ?? upload));
    },
  };
}

type VerificationContext = UploadReceiverContext & {
  /** Decompresses the archives of one organization one at a time, because each archive may decompress to 4 GiB. */
  readonly decompressInTurn: ReturnType<typeof createKeyedQueue>;
};

/** Rejects an invalid token. Call this before interrupting another request for the same upload. */
function requireToken(context: UploadReceiverContext, uploadId: string, token: string): void {
  if (!isValidUploadToken(context.uploadTokenKey, uploadId, token, context.now()))
    throw createApiError('upload-token-invalid');
}

async function requireOwn(context: UploadReceiverContext, uploadId: string): Promise<UploadRow> {
  const upload = await findUpload(context.db, uploadId);
  if (upload === undefined || upload.region !== context.host.region) throw createApiError('upload-not-found');
  return upload;
}

async function receivedBytes(context: UploadReceiverContext, upload: UploadRow): Promise<number> {
  return (await stat(context.directories.archive(upload.id)).catch(() => null))?.size ?? 0;
}

async function progress(context: UploadReceiverContext, upload: UploadRow): Promise<UploadProgress> {
  return {
    uploadId: upload.id,
    receivedBytes: await receivedBytes(context, upload),
    sizeBytes: upload.size_bytes,
    complete: upload.state === 'complete',
  };
}

/** Verifies that the received bytes match the announced hash and size. Otherwise, deletes them. */
async function complete(context: VerificationContext, upload: UploadRow): Promise<UploadRow> {
  const path = context.directories.archive(upload.id);
  const hashes = await hashArchive(createReadStream(path, { highWaterMark: 256 * 1024 }));
  const problem = upload.announced ? await findContentProblem(context, upload, hashes) : null;
  if (problem !== null) {
    await context.directories.removeTree(path);
    throw problem;
  }
  const contentHash = upload.announced ? upload.content_hash : hashes.sha256;
  const content = { content_hash: contentHash, context_hash: hashes.contextHash, size_bytes: hashes.bytes };
  const now = context.now();
  return context.db.transaction().execute(async (transaction) => {
    const row = await completeUploadRow(transaction, upload.id, { ...content, updated_at: now });
    if (row === undefined) throw createApiError('upload-not-found');
    await reopenBuildsOfUpload(transaction, upload.id, now);
    return row;
  });
}

/** Why an archive is not the announced one, or null. Clients announce its size, and its hash or that of its tar. */
async function findContentProblem(
  context: VerificationContext,
  upload: UploadRow,
  hashes: ArchiveHashes,
): Promise<ApiError | null> {
  if (hashes.bytes !== upload.size_bytes) return createApiError('upload-content-wrong');
  if (hashes.sha256 === upload.content_hash) return null;
  const archive = { path: context.directories.archive(upload.id), bytes: hashes.bytes };
  const tarHash = await context.decompressInTurn(upload.organization_id, () =>
    hashTarInArchive(archive, context.closing),
  );
  if (tarHash instanceof ArchiveError) return createApiError('upload-content-wrong', { message: tarHash.message });
  return tarHash === upload.content_hash ? null : createApiError('upload-content-wrong');
}

/**
 * Whether the stored bytes contradict the recorded state of the upload. This is true for a complete upload whose archive is
 * missing or has the wrong size. It is also true for an open upload whose hash and size were declared before, if all bytes have
 * arrived, because they must be verified then.
 */
async function isUnsettled(context: UploadReceiverContext, upload: UploadRow): Promise<boolean> {
  const isAllThere = (await receivedBytes(context, upload)) === upload.size_bytes;
  return upload.state === 'complete' ? !isAllThere : upload.announced && isAllThere;
}

async function settleNow(context: VerificationContext, upload: UploadRow): Promise<UploadRow> {
  if (!(await isUnsettled(context, upload))) return upload;
  if (upload.state === 'open') return complete(context, upload);
  await context.directories.removeTree(context.directories.archive(upload.id));
  return (await reopenUpload(context.db, upload.id, context.now())) ?? upload;
}

/** Rejects a body that differs from the upload's complete archive, which is never overwritten. */
async function requireSame(context: UploadReceiverContext, upload: UploadRow, body: Readable): Promise<UploadRow> {
  const sent = await hashArchive(body);
  if (sent.sha256 === upload.content_hash) return upload;
  if (sent.bytes === upload.size_bytes) {
    // The recorded hash may be that of the tar in the archive.
    const stored = await hashArchive(createReadStream(context.directories.archive(upload.id)));
    if (sent.sha256 === stored.sha256) return upload;
  }
  throw createApiError('upload-content-wrong', { message: 'This upload is already complete, with different content.' });
}

function createArchiveTooLargeError(limit: number): ApiError {
  if (limit === maxUploadBytes) return createApiError('archive-too-large');
  const message = `The archive is larger than its announced size, ${limit} bytes.`;
  return createApiError('archive-too-large', { message });
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
    // Do not destroy a rejected request body, because the error response is sent over the same connection.
    for await (const chunk of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      if (size + chunk.length > limit) throw createArchiveTooLargeError(limit);
      await file.appendFile(chunk);
      size += chunk.length;
    }
    await file.sync();
    return size;
  } catch (error) {
    if (interrupted.aborted)
      throw createApiError('upload-offset-wrong', { message: 'Another request has taken over this upload.' });
    throw isFileSystemFull(error) ? createApiError('storage-full', { cause: error }) : error;
  } finally {
    interrupted.removeEventListener('abort', stop);
    await file?.close();
  }
}
