import { ConnectionError } from './client.ts';
import {
  canResumeUpload,
  computeNextUploadPartSizeBytes,
  initialUploadPartSizeBytes,
  sendUploadPart,
} from './upload-part.ts';
import { delay, requestRetryDelaysMs } from './with-retries.ts';

/** The response to `getBuildUploadUrl`. */
type UploadTarget = {
  readonly uploadId: string;
  readonly uploadUrl: string;
  readonly uploadFields: { readonly token: string };
  readonly receivedBytes: number;
};

type Upload = {
  readonly sizeBytes: number;
  readonly readPart: (offset: number, length: number) => Promise<Blob | Uint8Array<ArrayBuffer>>;
  /** Requests a new token for the upload, and the number of bytes that the service has received. */
  readonly getTarget: () => Promise<UploadTarget>;
  /** Returns the origin to use instead of the service's public URL, which may be unreachable. Null: use the public URL. */
  readonly getOrigin: () => string | null;
  readonly onProgress: (receivedBytes: number) => void;
  /** Waits before the upload is resumed after `error`. Rejects when the signal is aborted. */
  readonly wait?: (delayMs: number, error: unknown) => Promise<void>;
  readonly signal: AbortSignal;
  readonly fetch?: typeof fetch;
};

/**
 * Sends the bytes of an archive that the service has not received, and returns the id of the upload. Resumes after transient
 * errors. Fails when all delays in `requestRetryDelaysMs` have passed without progress.
 *
 * @example
 * const getTarget = () => client.getBuildUploadUrl({ body: { region, contentHash, sizeBytes: archive.size } });
 * const readPart = async (offset: number, length: number) => archive.slice(offset, offset + length);
 * const upload = { sizeBytes: archive.size, readPart, getTarget, getOrigin: () => null, onProgress, signal };
 * const uploadId = await uploadRemainingParts(await getTarget(), upload);
 */
export async function uploadRemainingParts(firstTarget: UploadTarget, upload: Upload): Promise<string> {
  const { sizeBytes, signal, wait = (delayMs) => delay(delayMs, signal) } = upload;
  let target = firstTarget;
  let offset = target.receivedBytes;
  let partBytes: number = initialUploadPartSizeBytes;
  let failures = 0;
  while (offset < sizeBytes) {
    upload.onProgress(offset);
    try {
      const content = await upload.readPart(offset, Math.min(partBytes, sizeBytes - offset));
      const startedAtMs = performance.now();
      const url = replaceOrigin(target.uploadUrl, upload.getOrigin());
      const receivedBytes = await sendUploadPart({ ...upload, url, token: target.uploadFields.token, offset, content });
      // The service received nothing, for example because the archive became shorter during the upload.
      if (receivedBytes <= offset)
        throw new ConnectionError('The service received no bytes of the last part of the archive.');
      failures = 0;
      offset = receivedBytes;
      partBytes = computeNextUploadPartSizeBytes(partBytes, performance.now() - startedAtMs);
    } catch (error) {
      signal.throwIfAborted();
      const delayMs = requestRetryDelaysMs[failures];
      if (delayMs === undefined || !canResumeUpload(error)) throw error;
      failures += 1;
      await wait(delayMs, error);
      partBytes = initialUploadPartSizeBytes;
      target = await upload.getTarget();
      if (target.receivedBytes > offset) failures = 0;
      offset = target.receivedBytes;
    }
  }
  upload.onProgress(offset);
  return target.uploadId;
}

function replaceOrigin(uploadUrl: string, origin: string | null): string {
  return origin === null ? uploadUrl : new URL(new URL(uploadUrl).pathname, origin).href;
}
