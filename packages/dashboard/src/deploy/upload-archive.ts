import {
  type Client,
  canResumeUpload,
  computeNextPartBytes,
  initialPartBytes,
  retryDelaysMs,
  sendUploadPart,
} from '@bothost/contract';
import type { PackedProject } from './pack-project.ts';
import { delay, withRetries } from './with-retries.ts';

type UploadOptions = {
  readonly archive: PackedProject['archive'];
  readonly region: string;
  readonly onProgress: (sentBytes: number) => void;
  readonly signal: AbortSignal;
  /**
   * The origin of the upload URL. Defaults to the origin of the page, because the content security policy of the page allows no
   * other origin, such as the public URL of the service.
   */
  readonly origin?: string;
  readonly wait?: typeof delay;
};

/**
 * Uploads an archive in parts and returns the id of the upload. Resumes an earlier upload of the same content, even if `botcli`
 * started it. Retries after connection errors, until half a minute has passed without progress.
 */
export async function uploadArchive(api: Client, options: UploadOptions): Promise<string> {
  const { archive, region, onProgress, signal, origin = location.origin, wait = delay } = options;
  const body = { region, contentHash: archive.contentHash, sizeBytes: archive.bytes };
  const announce = () => withRetries(() => api.getBuildUploadUrl({ body }, signal), signal, wait);
  let target = await announce();
  let offset = target.receivedBytes;
  let partBytes: number = initialPartBytes;
  let failures = 0;
  while (offset < archive.bytes) {
    onProgress(offset);
    try {
      const startedAtMs = performance.now();
      const content = archive.content.slice(offset, offset + partBytes);
      const url = new URL(new URL(target.uploadUrl).pathname, origin).href;
      const receivedBytes = await sendUploadPart({ url, token: target.uploadFields.token, offset, content, signal });
      if (receivedBytes > offset) failures = 0;
      offset = receivedBytes;
      partBytes = computeNextPartBytes(partBytes, performance.now() - startedAtMs);
    } catch (error) {
      const delayMs = retryDelaysMs[failures];
      if (signal.aborted || delayMs === undefined || !canResumeUpload(error)) throw error;
      failures += 1;
      await wait(delayMs, signal);
      partBytes = initialPartBytes;
      target = await announce();
      if (target.receivedBytes > offset) failures = 0;
      offset = target.receivedBytes;
    }
  }
  onProgress(offset);
  return target.uploadId;
}
