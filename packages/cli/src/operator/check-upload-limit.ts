import type { IncomingMessage } from 'node:http';
import {
  fillPathTemplate,
  type InstallationCheck,
  maxUploadBytes,
  serviceVersionHeader,
  uploadUrlPathTemplate,
} from '@bothost/contract';
import { createFailedCheck, createOkCheck } from './installation-finding.ts';
import { createRawRequest, type ServiceConnection } from './raw-request.ts';

const subject = 'Uploads';
/** An upload that does not exist, so that the service refuses the request before its body. */
const uploadId = '00000000-0000-0000-0000-000000000000';

/** Announces the largest archive, without sending it, to find a limit of the proxy. */
export async function checkUploadLimit(connection: ServiceConnection): Promise<InstallationCheck> {
  const request = createRawRequest(connection, 'POST', fillPathTemplate(uploadUrlPathTemplate, { uploadId }), {
    'content-length': String(maxUploadBytes),
    'content-type': 'multipart/form-data; boundary=none',
    expect: '100-continue',
  });
  try {
    const answered = new Promise<IncomingMessage | null>((resolve, reject) => {
      request.once('continue', () => resolve(null));
      request.once('response', resolve);
      request.on('error', reject);
    });
    request.flushHeaders();
    const response = await answered;
    if (response === null || serviceVersionHeader in response.headers || response.statusCode !== 413)
      return createOkCheck(subject, 'Archives of 500 MB reach the service.');
    return createFailedCheck(
      subject,
      'The proxy refuses large bodies, so most deployments fail.',
      'Raise its limit to 501 MiB (client_max_body_size in nginx). See docs/reverse-proxy.md.',
    );
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    return createFailedCheck(
      subject,
      `An upload fails (${code}).`,
      'Check the log of the proxy. See docs/reverse-proxy.md.',
    );
  } finally {
    request.destroy();
  }
}
