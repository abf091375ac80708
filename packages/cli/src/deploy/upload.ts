import { type FileHandle, open } from 'node:fs/promises';
import {
  type Client,
  ConnectionError,
  canResumeUpload,
  computeNextPartBytes,
  formatBytes,
  initialPartBytes,
  retryDelaysMs,
  sendUploadPart,
} from '@bothost/contract';
import type { CommandContext } from '../command-line/context.ts';
import type { ArchiveFile } from '../pack/archive-file.ts';
import { withRetries } from '../service/retry.ts';

export type UploadResult = { readonly uploadId: string; readonly sentBytes: number };

/**
 * Uploads an archive. Resumes an interrupted upload of the same content, even if an earlier run of botcli began it. Retries after
 * connection errors, until half a minute has passed without progress.
 */
export async function uploadArchive(
  { io, messages, settings }: Pick<CommandContext, 'io' | 'messages' | 'settings'>,
  client: Client,
  archive: ArchiveFile,
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
  if (!messages.isLive && archive.bytes - offset > initialPartBytes)
    messages.notify(`Uploading ${formatBytes(archive.bytes - offset)}`);
  let usesSettingsOrigin = false;
  const startedAtMs = io.monotonicMs();
  let sentBytes = 0;
  let failures = 0;
  let partBytes: number = initialPartBytes;
  const file = await open(archive.path);
  try {
    while (offset < archive.bytes) {
      const seconds = (io.monotonicMs() - startedAtMs) / 1_000;
      messages.status(`Uploading ${progressBar(offset, archive.bytes, seconds, startOffset)}`);
      try {
        const content = await readPart(file, offset, Math.min(partBytes, archive.bytes - offset));
        const partStartedAtMs = io.monotonicMs();
        const url = usesSettingsOrigin ? replaceOrigin(target.uploadUrl, settings.origin.value) : target.uploadUrl;
        const { token } = target.uploadFields;
        const receivedBytes = await sendUploadPart({ ...io, url, token, offset, content });
        sentBytes += content.length;
        if (receivedBytes > offset) failures = 0;
        offset = receivedBytes;
        partBytes = computeNextPartBytes(partBytes, io.monotonicMs() - partStartedAtMs);
      } catch (error) {
        io.signal.throwIfAborted();
        const delayMs = retryDelaysMs[failures];
        if (delayMs === undefined || !canResumeUpload(error)) throw error;
        failures += 1;
        if (error instanceof ConnectionError) usesSettingsOrigin = !usesSettingsOrigin;
        messages.status(`The upload was interrupted; resuming in ${delayMs / 1_000} s`);
        await io.sleep(delayMs);
        partBytes = initialPartBytes;
        target = await getTarget();
        if (target.receivedBytes > offset) failures = 0;
        offset = target.receivedBytes;
      }
    }
  } finally {
    await file.close();
    messages.status(null);
  }
  return { uploadId: target.uploadId, sentBytes };
}

/** Replaces the service's public URL, which may be unreachable (for example through a tunnel), with the configured URL. */
function replaceOrigin(uploadUrl: string, origin: string): string {
  return new URL(new URL(uploadUrl).pathname, origin).href;
}

async function readPart(file: FileHandle, offset: number, length: number): Promise<Buffer<ArrayBuffer>> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
  return buffer.subarray(0, bytesRead);
}

/**
 * Formats progress as `████░░ 42 %  3.1 of 7.4 MiB  1.2 MiB/s`. The speed does not count the first `startOffset` bytes, because
 * an earlier run sent them.
 */
function progressBar(done: number, total: number, seconds: number, startOffset: number): string {
  const share = total === 0 ? 1 : done / total;
  const width = 24;
  const full = Math.round(share * width);
  const speed = seconds < 0.5 ? '' : `  ${formatBytes((done - startOffset) / seconds)}/s`;
  return `${'█'.repeat(full)}${'░'.repeat(width - full)} ${Math.floor(share * 100)} %  ${formatBytes(done)} of ${formatBytes(total)}${speed}`;
}
