import { type FileHandle, open } from 'node:fs/promises';
import { ApiError, type Client, ConnectionError, toApiError, UploadResponse } from '@bothost/contract';
import type { Context } from '../command-line/context.ts';
import type { Io } from '../io/io.ts';
import { formatBytes } from '../output/format.ts';
import type { Archive } from '../pack/archive.ts';
import { isTransient, retryDelaysMs, withRetries } from '../service/retry.ts';

/** Bytes of one request: small at first, for slow connections, then doubled while requests are fast. */
const chunkBytes = { first: 256 * 1_024, most: 8 * 1_048_576 } as const;
/** Time limit of one request, in seconds. */
const chunkTimeoutSeconds = 120;

/** Errors after which the upload continues at the service's own offset, perhaps with a new token. */
const restartReasons: readonly string[] = ['upload-offset-wrong', 'upload-token-invalid', 'upload-not-found'];

export type UploadResult = { readonly uploadId: string; readonly sentBytes: number };

/**
 * Uploads an archive. Resumes an earlier upload of the same content, also of another run. After a connection error it
 * retries, until nothing was received for half a minute.
 */
export async function upload(
  { io, messages, settings }: Pick<Context, 'io' | 'messages' | 'settings'>,
  client: Client,
  archive: Archive,
  region: string,
): Promise<UploadResult> {
  const where = () =>
    withRetries({ io, messages }, () =>
      client.getBuildUploadUrl({ body: { region, contentHash: archive.contentHash, sizeBytes: archive.bytes } }),
    );
  let target = await where();
  let offset = target.receivedBytes;
  if (offset > 0 && offset < archive.bytes) messages.notify('Resuming an earlier upload of the same content.');
  const first = offset;
  if (!messages.isLive && archive.bytes - offset > chunkBytes.first)
    messages.notify(`Uploading ${formatBytes(archive.bytes - offset)}`);
  let isDirect = false;
  const begun = io.now().getTime();
  let sentBytes = 0;
  let failures = 0;
  let size: number = chunkBytes.first;
  const file = await open(archive.path);
  try {
    while (offset < archive.bytes) {
      const seconds = (io.now().getTime() - begun) / 1_000;
      messages.status(`Uploading ${progressBar(offset, archive.bytes, seconds, first)}`);
      try {
        const piece = await readChunk(file, offset, Math.min(size, archive.bytes - offset));
        const started = io.now().getTime();
        const url = isDirect ? onOrigin(target.uploadUrl, settings.origin.value) : target.uploadUrl;
        const { receivedBytes } = await sendChunk(io, { ...target, uploadUrl: url }, offset, piece);
        sentBytes += piece.length;
        if (receivedBytes > offset) failures = 0;
        offset = receivedBytes;
        if (io.now().getTime() - started < 500) size = Math.min(size * 2, chunkBytes.most);
      } catch (error) {
        io.signal.throwIfAborted();
        const pause = retryDelaysMs[failures];
        const isLost = error instanceof ApiError && restartReasons.includes(error.reason);
        if (pause === undefined || !(isLost || isTransient(error))) throw error;
        failures += 1;
        if (error instanceof ConnectionError) isDirect = !isDirect;
        messages.status(`The upload was interrupted; resuming in ${pause / 1_000} s`);
        await io.sleep(pause);
        size = chunkBytes.first;
        target = await where();
        offset = target.receivedBytes;
      }
    }
  } finally {
    await file.close();
    messages.status(null);
  }
  return { uploadId: target.uploadId, sentBytes };
}

/**
 * The upload URL with the origin of the settings. The service returns its public URL, which may be unreachable through a
 * tunnel.
 */
function onOrigin(uploadUrl: string, origin: string): string {
  return new URL(new URL(uploadUrl).pathname, origin).href;
}

async function readChunk(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
  return buffer.subarray(0, bytesRead);
}

type UploadTarget = { readonly uploadUrl: string; readonly uploadFields: { readonly token: string } };

async function sendChunk(io: Io, target: UploadTarget, offset: number, piece: Buffer): Promise<UploadResponse> {
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(chunkTimeoutSeconds * 1_000)]);
  const headers = {
    'content-type': 'application/octet-stream',
    'upload-token': target.uploadFields.token,
    'upload-offset': String(offset),
  };
  let response: Response;
  let answer: unknown;
  try {
    // A redirect would send the archive and its token to another host.
    const redirect = 'error';
    response = await io.fetch(target.uploadUrl, { method: 'PATCH', headers, body: piece, signal, redirect });
    answer = await response.json();
  } catch (error) {
    io.signal.throwIfAborted();
    throw new ConnectionError(`The connection to ${new URL(target.uploadUrl).origin} broke during the upload.`, {
      cause: error,
    });
  }
  if (!response.ok) throw toApiError(response.status, answer);
  const parsed = UploadResponse.safeParse(answer);
  if (!parsed.success) throw new ConnectionError('the answer to an upload does not look like one from this service');
  return parsed.data;
}

/** Progress as one line: `████░░ 42 %  3.1 of 7.4 MiB  1.2 MiB/s`. `startedAt` bytes were sent by an earlier run. */
function progressBar(done: number, total: number, seconds: number, startedAt: number): string {
  const share = total === 0 ? 1 : done / total;
  const width = 24;
  const full = Math.round(share * width);
  const speed = seconds < 0.5 ? '' : `  ${formatBytes((done - startedAt) / seconds)}/s`;
  return `${'█'.repeat(full)}${'░'.repeat(width - full)} ${Math.floor(share * 100)} %  ${formatBytes(done)} of ${formatBytes(total)}${speed}`;
}
