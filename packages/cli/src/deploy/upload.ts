import { type FileHandle, open } from 'node:fs/promises';
import { ApiError, type Client, ConnectionError, toApiError, UploadResponse } from '@bothost/contract';
import type { Context } from '../command-line/context.ts';
import type { Io } from '../io/io.ts';
import { formatBytes } from '../output/format.ts';
import type { Archive } from '../pack/archive.ts';
import { isTransient, retryDelaysMs, withRetries } from '../service/retry.ts';

/** The size of one request starts small, for slow connections, and doubles while requests are fast. */
const initialChunkBytes = 256 * 1_024;
const maxChunkBytes = 8 * 1_048_576;
const chunkTimeoutSeconds = 120;

/** After these errors, the upload gets a new token and continues at the offset that the service reports. */
const restartReasons: readonly string[] = ['upload-offset-wrong', 'upload-token-invalid', 'upload-not-found'];

export type UploadResult = { readonly uploadId: string; readonly sentBytes: number };

/**
 * Uploads an archive. Resumes an earlier upload of the same content, also one of another run. Retries after connection errors,
 * until the service has received nothing for half a minute.
 */
export async function uploadArchive(
  { io, messages, settings }: Pick<Context, 'io' | 'messages' | 'settings'>,
  client: Client,
  archive: Archive,
  region: string,
): Promise<UploadResult> {
  const getTarget = () =>
    withRetries({ io, messages }, () =>
      client.getBuildUploadUrl({ body: { region, contentHash: archive.contentHash, sizeBytes: archive.bytes } }),
    );
  let target = await getTarget();
  let offset = target.receivedBytes;
  if (offset > 0 && offset < archive.bytes) messages.notify('Resuming an earlier upload of the same content.');
  const startOffset = offset;
  if (!messages.isLive && archive.bytes - offset > initialChunkBytes)
    messages.notify(`Uploading ${formatBytes(archive.bytes - offset)}`);
  let usesSettingsOrigin = false;
  const startedAtMs = io.now().getTime();
  let sentBytes = 0;
  let failures = 0;
  let size: number = initialChunkBytes;
  const file = await open(archive.path);
  try {
    while (offset < archive.bytes) {
      const seconds = (io.now().getTime() - startedAtMs) / 1_000;
      messages.status(`Uploading ${progressBar(offset, archive.bytes, seconds, startOffset)}`);
      try {
        const piece = await readChunk(file, offset, Math.min(size, archive.bytes - offset));
        const chunkStartedAtMs = io.now().getTime();
        const url = usesSettingsOrigin ? replaceOrigin(target.uploadUrl, settings.origin.value) : target.uploadUrl;
        const { receivedBytes } = await sendChunk(io, { ...target, uploadUrl: url }, offset, piece);
        sentBytes += piece.length;
        if (receivedBytes > offset) failures = 0;
        offset = receivedBytes;
        if (io.now().getTime() - chunkStartedAtMs < 500) size = Math.min(size * 2, maxChunkBytes);
      } catch (error) {
        io.signal.throwIfAborted();
        const delayMs = retryDelaysMs[failures];
        const mustRestart = error instanceof ApiError && restartReasons.includes(error.reason);
        if (delayMs === undefined || !(mustRestart || isTransient(error))) throw error;
        failures += 1;
        if (error instanceof ConnectionError) usesSettingsOrigin = !usesSettingsOrigin;
        messages.status(`The upload was interrupted; resuming in ${delayMs / 1_000} s`);
        await io.sleep(delayMs);
        size = initialChunkBytes;
        target = await getTarget();
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
 * The service returns its public URL, which may be unreachable, for example through a tunnel. The origin in the settings may
 * work instead.
 */
function replaceOrigin(uploadUrl: string, origin: string): string {
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
    throw new ConnectionError(`The connection to ${new URL(target.uploadUrl).origin} was lost during the upload.`, {
      cause: error,
    });
  }
  if (!response.ok) throw toApiError(response.status, answer);
  const parsed = UploadResponse.safeParse(answer);
  if (!parsed.success) throw new ConnectionError('The response to an upload has an unknown format.');
  return parsed.data;
}

/** Formats progress as `████░░ 42 %  3.1 of 7.4 MiB  1.2 MiB/s`. An earlier run sent the bytes before `startOffset`. */
function progressBar(done: number, total: number, seconds: number, startOffset: number): string {
  const share = total === 0 ? 1 : done / total;
  const width = 24;
  const full = Math.round(share * width);
  const speed = seconds < 0.5 ? '' : `  ${formatBytes((done - startOffset) / seconds)}/s`;
  return `${'█'.repeat(full)}${'░'.repeat(width - full)} ${Math.floor(share * 100)} %  ${formatBytes(done)} of ${formatBytes(total)}${speed}`;
}
