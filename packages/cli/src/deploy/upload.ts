import { type FileHandle, open } from 'node:fs/promises';
import { ApiError, type Client, ConnectionError, toApiError, UploadAnswer } from '@bothost/contract';
import type { Context } from '../command-line/context.ts';
import { byteSize } from '../output/values.ts';
import type { Archive } from '../pack/archive.ts';
import { isTransient, pauses, withRetries } from '../service/retry.ts';
import type { World } from '../world/world.ts';

/** What one request carries: little at first, for a slow line, then more while it goes fast. */
const pieceBytes = { first: 256 * 1_024, most: 8 * 1_048_576 } as const;
/** In which a piece has to get through, in seconds. */
const pieceSeconds = 120;

/** Failures that say how far the service is instead of where we thought it was. */
const lostTrack: readonly string[] = ['upload-offset-wrong', 'upload-token-invalid', 'upload-not-found'];

export type Uploaded = { readonly uploadId: string; readonly sentBytes: number };

/**
 * Sends an archive and answers its upload. It goes on where an earlier attempt with the same content was, also one of
 * another run. Broken connections are tried again until nothing has got through for half a minute.
 */
export async function upload(
  { world, talk, settings }: Pick<Context, 'world' | 'talk' | 'settings'>,
  client: Client,
  archive: Archive,
  region: string,
): Promise<Uploaded> {
  const where = () =>
    withRetries({ world, talk }, () =>
      client.getBuildUploadUrl({ body: { region, contentHash: archive.contentHash, sizeBytes: archive.bytes } }),
    );
  let target = await where();
  let offset = target.receivedBytes;
  if (offset > 0 && offset < archive.bytes) talk.say('The service already has part of this; resuming from there.');
  const first = offset;
  if (!talk.isLive && archive.bytes - offset > pieceBytes.first)
    talk.say(`Uploading ${byteSize(archive.bytes - offset)}`);
  let isDirect = false;
  const begun = world.now().getTime();
  let sentBytes = 0;
  let failures = 0;
  let size: number = pieceBytes.first;
  const file = await open(archive.path);
  try {
    while (offset < archive.bytes) {
      const seconds = (world.now().getTime() - begun) / 1_000;
      talk.status(`Uploading ${progressBar(offset, archive.bytes, seconds, first)}`);
      try {
        const piece = await readPiece(file, offset, Math.min(size, archive.bytes - offset));
        const started = world.now().getTime();
        const url = isDirect ? onOrigin(target.uploadUrl, settings.origin.value) : target.uploadUrl;
        const { receivedBytes } = await append(world, { ...target, uploadUrl: url }, offset, piece);
        sentBytes += piece.length;
        if (receivedBytes > offset) failures = 0;
        offset = receivedBytes;
        if (world.now().getTime() - started < 500) size = Math.min(size * 2, pieceBytes.most);
      } catch (error) {
        world.signal.throwIfAborted();
        const pause = pauses[failures];
        const isLost = error instanceof ApiError && lostTrack.includes(error.reason);
        if (pause === undefined || !(isLost || isTransient(error))) throw error;
        failures += 1;
        if (error instanceof ConnectionError) isDirect = !isDirect;
        talk.status(`The upload was interrupted; resuming in ${pause / 1_000} s`);
        await world.pause(pause);
        size = pieceBytes.first;
        target = await where();
        offset = target.receivedBytes;
      }
    }
  } finally {
    await file.close();
    talk.status(null);
  }
  return { uploadId: target.uploadId, sentBytes };
}

/**
 * The upload's address where the service was asked. It knows itself by its public address, which somebody who comes
 * through a tunnel cannot reach.
 */
function onOrigin(uploadUrl: string, origin: string): string {
  return new URL(new URL(uploadUrl).pathname, origin).href;
}

async function readPiece(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
  return buffer.subarray(0, bytesRead);
}

type Target = { readonly uploadUrl: string; readonly uploadFields: { readonly token: string } };

async function append(world: World, target: Target, offset: number, piece: Buffer): Promise<UploadAnswer> {
  const signal = AbortSignal.any([world.signal, AbortSignal.timeout(pieceSeconds * 1_000)]);
  const headers = {
    'content-type': 'application/octet-stream',
    'upload-token': target.uploadFields.token,
    'upload-offset': String(offset),
  };
  let response: Response;
  let answer: unknown;
  try {
    // A redirect would send the archive and its token to whatever address it names.
    const redirect = 'error';
    response = await world.fetch(target.uploadUrl, { method: 'PATCH', headers, body: piece, signal, redirect });
    answer = await response.json();
  } catch (error) {
    world.signal.throwIfAborted();
    throw new ConnectionError(`the upload to ${new URL(target.uploadUrl).origin} was cut off`, { cause: error });
  }
  if (!response.ok) throw toApiError(response.status, answer);
  const parsed = UploadAnswer.safeParse(answer);
  if (!parsed.success) throw new ConnectionError('the answer to an upload does not look like one from this service');
  return parsed.data;
}

/** Progress as one line, with `startedAt` bytes sent by an earlier run: `████░░ 42 %  3.1 of 7.4 MiB  1.2 MiB/s`. */
function progressBar(done: number, total: number, seconds: number, startedAt: number): string {
  const share = total === 0 ? 1 : done / total;
  const width = 24;
  const full = Math.round(share * width);
  const speed = seconds < 0.5 ? '' : `  ${byteSize((done - startedAt) / seconds)}/s`;
  return `${'█'.repeat(full)}${'░'.repeat(width - full)} ${Math.floor(share * 100)} %  ${byteSize(done)} of ${byteSize(total)}${speed}`;
}
