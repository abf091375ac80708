import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import {
  ApiError,
  ArchiveUploadResponse,
  createApiError,
  fillPathTemplate,
  maxUploadBytes,
  uploadUrlPathTemplate,
} from '@bothost/contract';
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy';
import type { Logger } from 'pino';
import type { UploadProgress, UploadReceiver } from '../builds/receive.ts';
import { createJsonHeaders, type FailureMapper, sendFailure } from './requests/failure-response.ts';

export type UploadContext = {
  readonly uploads: Pick<UploadReceiver, 'readProgress' | 'append' | 'replace'>;
  readonly logger: Logger;
  readonly toFailure: FailureMapper;
};

const pattern = new RegExp(`^${uploadUrlPathTemplate.replace('{uploadId}', '([0-9a-fA-F-]{36})')}(?:\\?.*)?$`);

/**
 * Returns the upload id in a URL, or null if the URL is not for an upload. Converts the id to lower case, so that all requests
 * for an upload have the same text of the id. Requests with the same text run one at a time.
 */
export function parseUploadPath(url: string): string | null {
  return pattern.exec(url)?.[1]?.toLowerCase() ?? null;
}

/** Time limits in milliseconds: for a client that sends no byte, and for a whole archive. */
const idleMs = 60_000;
const longestMs = 3_600_000;

/**
 * Creates the handler of archive uploads. It streams archives to disk without the web framework. Clients send the upload token
 * in a form field or header instead of the URL, so that no log contains the token.
 */
export function createUploadEndpoint(context: UploadContext) {
  async function answer(incoming: IncomingMessage, uploadId: string): Promise<UploadProgress> {
    const token = String(incoming.headers['upload-token'] ?? '');
    switch (incoming.method) {
      case 'HEAD':
        return context.uploads.readProgress(uploadId, token);
      case 'PATCH': {
        const offset = String(incoming.headers['upload-offset'] ?? '');
        if (!/^\d{1,15}$/.test(offset)) {
          throw createApiError('invalid-request', { message: 'Upload-Offset is missing or not a whole number.' });
        }
        return context.uploads.append(uploadId, token, Number(offset), incoming);
      }
      case 'POST':
        if (Number(incoming.headers['content-length'] ?? 0) > maxUploadBytes + formBytes)
          throw createApiError('archive-too-large');
        return receiveForm(incoming, (fields, file) => context.uploads.replace(uploadId, fields, file));
      default:
        throw createApiError('method-not-allowed');
    }
  }

  return async (
    incoming: IncomingMessage,
    response: ServerResponse,
    uploadId: string,
    requestId: string,
  ): Promise<void> => {
    const began = performance.now();
    incoming.setTimeout(idleMs, () => incoming.destroy());
    const deadline = setTimeout(() => incoming.destroy(), longestMs);
    try {
      send(response, await answer(incoming, uploadId), requestId);
    } catch (error) {
      const known = error instanceof ApiError ? error : context.toFailure(error);
      if (known.status >= 500 && !incoming.destroyed) {
        context.logger.error({ requestId, err: known.cause ?? known }, known.message);
      }
      refuse(incoming, response, known, requestId);
    } finally {
      clearTimeout(deadline);
      const fields = {
        requestId,
        method: incoming.method,
        path: fillPathTemplate(uploadUrlPathTemplate, { uploadId }),
      };
      const ms = Math.round(performance.now() - began);
      // Log null as the status if the connection was lost before a response was sent.
      const status = response.headersSent ? response.statusCode : null;
      context.logger.info({ ...fields, status, ms }, 'request');
    }
  };
}

function refuse(incoming: IncomingMessage, response: ServerResponse, known: ApiError, requestId: string): void {
  // The connection was lost, so no response can be sent.
  if (incoming.destroyed && !incoming.complete) return void response.destroy();
  sendFailure(response, known, requestId, known.status === 405 ? { allow: 'HEAD, PATCH, POST' } : {});
}

function send(response: ServerResponse, progress: UploadProgress, requestId: string): void {
  const { uploadId, receivedBytes, sizeBytes, complete } = progress;
  const body = JSON.stringify(ArchiveUploadResponse.parse({ uploadId, receivedBytes, complete }));
  const headers = {
    ...createJsonHeaders(body, requestId),
    'upload-offset': String(receivedBytes),
    ...(sizeBytes === null ? {} : { 'upload-length': String(sizeBytes) }),
  };
  response.writeHead(200, headers).end(body);
}

/** Maximum number of bytes in form fields other than the archive. */
const formBytes = 65_536;
const formLimits = { files: 1, fields: 30, parts: 31, fieldSize: 4_096, fieldNameSize: 200, headerPairs: 50 };

/** Reads a form: the field `token`, then the archive `file`, as a stream for `take`. Resolves with the result of `take`. */
function receiveForm(
  incoming: IncomingMessage,
  take: (token: string, file: Readable) => Promise<UploadProgress>,
): Promise<UploadProgress> {
  return new Promise((resolve, reject) => {
    const invalid = (cause?: unknown) => createApiError('upload-form-invalid', { cause });
    const type = incoming.headers['content-type'] ?? '';
    if (!/^multipart\/form-data\b/i.test(type)) return reject(invalid());
    let form: BusboyInstance;
    try {
      form = new Busboy({ headers: incoming.headers as BusboyHeaders, limits: formLimits });
    } catch (error) {
      return reject(invalid(error));
    }
    let token = '';
    let taking: Promise<void> | null = null;
    form.on('field', (name, value) => {
      if (name === 'token') token = value;
    });
    form.on('file', (name, file) => {
      file.on('error', () => undefined);
      if (name !== 'file' || taking !== null) return void file.resume();
      broken.then((error) => file.destroy(error));
      taking = take(token, file)
        .then(resolve, reject)
        .finally(() => file.resume());
    });
    form.on('finish', () => taking ?? reject(invalid()));
    const broken = new Promise<Error>((resolve) => {
      form.on('error', resolve);
      incoming.once('close', () => incoming.complete || resolve(new Error('the connection was lost')));
    });
    broken.then((error) => reject(invalid(error)));
    incoming.pipe(form);
  });
}
