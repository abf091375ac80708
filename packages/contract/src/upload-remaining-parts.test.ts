import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createApiClient } from './client.ts';
import { createApiError, createErrorBody, type ErrorReason } from './errors.ts';
import { uploadRemainingParts } from './upload-remaining-parts.ts';
import { requestRetryDelaysMs } from './with-retries.ts';

const uploadId = '01930000-0000-7000-8000-000000000001';

/**
 * How the fake service treats one part of an upload: it stores `storedBytes` bytes and closes the connection, it rejects the part
 * with `reason`, or (null) it accepts the part.
 */
type Fault = { readonly storedBytes: number } | { readonly reason: ErrorReason } | null;

/** Starts a fake service with one upload. Each of the `faults` applies to one part, beginning with the first part. */
async function startUploadService(faults: Fault[] = [], earlier = Buffer.alloc(0)) {
  const service = { received: earlier, offsets: [] as number[], announcements: [] as unknown[], origin: '' };
  const respond = (response: ServerResponse, status: number, body: unknown) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const reject = (response: ServerResponse, reason: ErrorReason) => {
    const error = createApiError(reason);
    respond(response, error.status, createErrorBody(error, 'request'));
  };
  const announce = (response: ServerResponse, body: unknown) => {
    service.announcements.push(body);
    respond(response, 200, {
      uploadId,
      uploadUrl: `https://public.example/v1/uploads/${uploadId}`,
      uploadFields: { token: `token ${service.announcements.length}` },
      expiresAt: '2026-11-20T18:00:00.000Z',
      receivedBytes: service.received.length,
    });
  };
  const receivePart = ({ headers, socket }: IncomingMessage, response: ServerResponse, part: Buffer) => {
    const fault = faults.shift() ?? null;
    const offset = Number(headers['upload-offset']);
    service.offsets.push(offset);
    if (headers['upload-token'] !== `token ${service.announcements.length}`) reject(response, 'upload-token-invalid');
    else if (offset !== service.received.length) reject(response, 'upload-offset-wrong');
    else if (fault !== null && 'reason' in fault) reject(response, fault.reason);
    else {
      service.received = Buffer.concat([service.received, part.subarray(0, fault?.storedBytes)]);
      if (fault !== null) socket.destroy();
      else respond(response, 200, { uploadId, receivedBytes: service.received.length, complete: false });
    }
  };
  const server = createServer(async (request, response) => {
    const body = await buffer(request);
    if (request.url === '/v1/builds/upload-url') announce(response, JSON.parse(body.toString()));
    else if (request.url === `/v1/uploads/${uploadId}`) receivePart(request, response, body);
    else reject(response, 'not-found');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close().closeAllConnections());
  service.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return service;
}

const content = randomBytes(1_000_000);

function startUpload(origin: string, signal = new AbortController().signal, archive = content) {
  const progress: number[] = [];
  const waitedMs: number[] = [];
  const client = createApiClient({ origin });
  const body = { region: 'us-west', contentHash: 'ab'.repeat(32), sizeBytes: content.length };
  const getTarget = () => client.getBuildUploadUrl({ body });
  const result = getTarget().then((target) =>
    uploadRemainingParts(target, {
      sizeBytes: content.length,
      readPart: async (offset, length) => archive.subarray(offset, offset + length),
      getTarget,
      getOrigin: () => origin,
      onProgress: (sentBytes) => progress.push(sentBytes),
      wait: async (delayMs) => void waitedMs.push(delayMs),
      signal,
    }),
  );
  return { result, progress, waitedMs };
}

describe('uploadRemainingParts', () => {
  it('sends the archive in parts to the given origin instead of the public URL', async () => {
    const service = await startUploadService();
    const { result, progress, waitedMs } = startUpload(service.origin);
    expect(await result).toBe(uploadId);
    expect(service.received.equals(content)).toBe(true);
    expect(service.announcements).toHaveLength(1);
    expect(progress).toEqual([...service.offsets, content.length]);
    expect(service.offsets.length).toBeGreaterThan(1);
    expect(waitedMs).toEqual([]);
  });

  it('sends only the bytes that an earlier upload of the same content did not send', async () => {
    const service = await startUploadService([], content.subarray(0, 900_000));
    await startUpload(service.origin).result;
    expect(service.offsets).toEqual([900_000]);
    expect(service.received.equals(content)).toBe(true);
  });

  it('resumes after a lost connection at the number of bytes that the service has received', async () => {
    const service = await startUploadService([{ storedBytes: 1_000 }]);
    const { result, waitedMs } = startUpload(service.origin);
    expect(await result).toBe(uploadId);
    expect(service.offsets.slice(0, 2)).toEqual([0, 1_000]);
    expect(service.received.equals(content)).toBe(true);
    expect(waitedMs).toEqual(requestRetryDelaysMs.slice(0, 1));
  });

  it('requests a new token when the token has expired', async () => {
    const service = await startUploadService([{ reason: 'upload-token-invalid' }]);
    expect(await startUpload(service.origin).result).toBe(uploadId);
    expect(service.announcements).toHaveLength(2);
  });

  it('returns to the shortest retry delay after a successful part', async () => {
    const lost = { storedBytes: 0 };
    const service = await startUploadService([lost, lost, null, lost]);
    const { result, waitedMs } = startUpload(service.origin);
    await result;
    expect(waitedMs).toEqual([...requestRetryDelaysMs.slice(0, 2), requestRetryDelaysMs[0]]);
  });

  it('keeps retrying as long as the service receives some bytes of each interrupted part', async () => {
    const service = await startUploadService(Array.from({ length: 20 }, () => ({ storedBytes: 1_000 })));
    const { result, waitedMs } = startUpload(service.origin);
    expect(await result).toBe(uploadId);
    expect(waitedMs).toEqual(Array.from({ length: 20 }, () => requestRetryDelaysMs[0]));
  });

  it('fails when all retry delays have passed without progress', async () => {
    const service = await startUploadService(Array.from({ length: 20 }, () => ({ storedBytes: 0 })));
    const { result, waitedMs } = startUpload(service.origin);
    await expect(result).rejects.toThrow('was lost during the upload');
    expect(waitedMs).toEqual(requestRetryDelaysMs);
  });

  it('fails after all retry delays if the archive has become shorter', async () => {
    const service = await startUploadService();
    const { result, waitedMs } = startUpload(service.origin, undefined, content.subarray(0, 1_000));
    await expect(result).rejects.toThrow('received no bytes');
    expect(waitedMs).toEqual(requestRetryDelaysMs);
  });

  it('throws a permanent error of the service without a retry', async () => {
    const service = await startUploadService([{ reason: 'storage-full' }]);
    const { result, waitedMs } = startUpload(service.origin);
    await expect(result).rejects.toMatchObject({ reason: 'storage-full' });
    expect(waitedMs).toEqual([]);
  });

  it('sends nothing if the signal is already aborted', async () => {
    const service = await startUploadService();
    const { result } = startUpload(service.origin, AbortSignal.abort(new Error('left the page')));
    await expect(result).rejects.toThrow('left the page');
    expect(service.offsets).toEqual([]);
  });
});
