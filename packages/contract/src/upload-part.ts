import { ConnectionError, toApiError } from './client.ts';
import { createTimeout } from './create-timeout.ts';
import { ApiError } from './errors.ts';
import { ArchiveUploadResponse } from './operations/builds.ts';
import { isTransientError } from './with-retries.ts';

/** The size of the first part of an upload, small enough for slow connections. */
export const initialUploadPartSizeBytes = 256 * 1_024;
const maxPartBytes = 8 * 1_048_576;
const partTimeoutMs = 120_000;

/** Returns the size of the next part. The size doubles, up to a maximum, if the previous part took less than half a second. */
export function computeNextUploadPartSizeBytes(partBytes: number, durationMs: number): number {
  return durationMs < 500 ? Math.min(partBytes * 2, maxPartBytes) : partBytes;
}

const restartReasons: readonly string[] = ['upload-offset-wrong', 'upload-token-invalid', 'upload-not-found'];

/** Whether the client can resume the upload: request a new token, and continue at the offset that the service reports. */
export function canResumeUpload(error: unknown): boolean {
  return isTransientError(error) || (error instanceof ApiError && restartReasons.includes(error.reason));
}

type UploadPart = {
  readonly url: string;
  readonly token: string;
  readonly offset: number;
  readonly content: Blob | Uint8Array<ArrayBuffer>;
  readonly signal: AbortSignal;
  readonly fetch?: typeof fetch;
};

/** Sends a part of an archive, and returns how many bytes the service has received. @throws ApiError, ConnectionError */
export async function sendUploadPart({ url, token, offset, content, ...options }: UploadPart): Promise<number> {
  const signal = AbortSignal.any([options.signal, createTimeout(partTimeoutMs)]);
  const headers = {
    'content-type': 'application/octet-stream',
    'upload-token': token,
    'upload-offset': String(offset),
  };
  let response: Response;
  let body: unknown;
  try {
    // A redirect would send the archive and its token to another host.
    const init: RequestInit = { method: 'PATCH', headers, body: content, signal, redirect: 'error' };
    response = await (options.fetch ?? fetch)(url, init);
    body = await response.json();
  } catch (cause) {
    options.signal.throwIfAborted();
    throw new ConnectionError(`The connection to ${new URL(url).origin} was lost during the upload.`, { cause });
  }
  if (!response.ok) throw toApiError(response.status, body);
  const { data } = ArchiveUploadResponse.safeParse(body);
  if (data === undefined) throw new ConnectionError('The response to an upload has an unknown format.');
  return data.receivedBytes;
}
