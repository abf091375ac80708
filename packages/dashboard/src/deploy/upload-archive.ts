import { type ApiClient, uploadRemainingParts, withRetries } from '@bothost/contract';
import type { PackedProject } from './pack-project.ts';

type UploadOptions = {
  readonly archive: PackedProject['archive'];
  readonly region: string;
  readonly onProgress: (sentBytes: number) => void;
  readonly signal: AbortSignal;
};

/** Uploads an archive and returns the id of the upload. Resumes an upload of the same content, even if `botcli` started it. */
export async function uploadArchive(api: ApiClient, options: UploadOptions): Promise<string> {
  const { archive, region, onProgress, signal } = options;
  const body = { region, contentHash: archive.contentHash, sizeBytes: archive.bytes };
  const getTarget = () => withRetries(() => api.getBuildUploadUrl({ body }, signal), signal);
  return uploadRemainingParts(await getTarget(), {
    sizeBytes: archive.bytes,
    readPart: async (offset, length) => archive.content.slice(offset, offset + length),
    getTarget,
    // Upload to this page's origin, because the content security policy blocks other origins, such as the service's public URL.
    getOrigin: () => location.origin,
    onProgress,
    signal,
  });
}
