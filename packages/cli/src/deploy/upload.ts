import { type FileHandle, open } from 'node:fs/promises';
import {
  type ApiClient,
  ConnectionError,
  formatBytes,
  initialUploadPartSizeBytes,
  uploadRemainingParts,
} from '@bothost/contract';
import type { CommandContext } from '../command-line/context.ts';
import { withRetries } from '../connection/retry.ts';
import type { ArchiveFile } from '../pack/pack-project.ts';

/** Uploads an archive and returns its upload id. Resumes an upload of the same content, even from an earlier run. */
export async function uploadArchive(
  { io, messages, settings }: Pick<CommandContext, 'io' | 'messages' | 'settings'>,
  client: ApiClient,
  archive: ArchiveFile,
  region: string,
): Promise<string> {
  const getTarget = () =>
    withRetries({ io, messages }, () =>
      client.getBuildUploadUrl({ body: { region, contentHash: archive.contentHash, sizeBytes: archive.bytes } }),
    );
  const target = await getTarget();
  const startOffset = target.receivedBytes;
  const remainingBytes = archive.bytes - startOffset;
  if (startOffset > 0 && remainingBytes > 0) messages.notify('Resuming an earlier upload of the same content.');
  if (!messages.isLive && remainingBytes > initialUploadPartSizeBytes)
    messages.notify(`Uploading ${formatBytes(remainingBytes)}`);
  const startedAtMs = io.monotonicMs();
  // After a connection error, try the configured URL: the service's public URL may be unreachable, for example behind a tunnel.
  let usesSettingsOrigin = false;
  const file = await open(archive.path);
  try {
    return await uploadRemainingParts(target, {
      sizeBytes: archive.bytes,
      readPart: (offset, length) => readPart(file, offset, length),
      getTarget,
      getOrigin: () => (usesSettingsOrigin ? settings.origin.value : null),
      onProgress: (offset) => {
        const seconds = (io.monotonicMs() - startedAtMs) / 1_000;
        messages.status(`Uploading ${progressBar(offset, archive.bytes, seconds, startOffset)}`);
      },
      wait: (delayMs, error) => {
        if (error instanceof ConnectionError) usesSettingsOrigin = !usesSettingsOrigin;
        messages.status(`The upload was interrupted; resuming in ${delayMs / 1_000} s`);
        return io.sleep(delayMs);
      },
      signal: io.signal,
      fetch: io.fetch,
    });
  } finally {
    await file.close();
    messages.status(null);
  }
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
