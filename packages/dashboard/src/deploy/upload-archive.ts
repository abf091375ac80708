import { type ApiClient, uploadRemainingParts, withRetries } from '@bothost/contract';

type UploadOptions = {
  readonly content: Blob;
  readonly contentHash: string;
  readonly region: string;
  readonly onProgress: (sentBytes: number) => void;
  readonly signal: AbortSignal;
};

/** Uploads an archive and returns the id of the upload. Resumes an earlier upload of the same archive. */
export async function uploadArchive(api: ApiClient, options: UploadOptions): Promise<string> {
  const { content, contentHash, region, onProgress, signal } = options;
  const body = { region, contentHash, sizeBytes: content.size };
  const getTarget = () => withRetries(() => api.getBuildUploadUrl({ body }, signal), signal);
  return uploadRemainingParts(await getTarget(), {
    sizeBytes: content.size,
    readPart: async (offset, length) => content.slice(offset, offset + length),
    getTarget,
    // Upload to this page's origin, because the content security policy blocks other origins, such as the service's public URL.
    getOrigin: () => location.origin,
    onProgress,
    signal,
  });
}
