import { createTimeout, type InstallationCheck, serviceVersionHeader } from '@bothost/contract';
import { findNetworkErrorCode } from '../connection/describe-failure.ts';
import type { CommandIo } from '../io/io.ts';
import { checkCertificate } from './check-certificate.ts';
import { checkUploadLimit } from './check-upload-limit.ts';
import { checkWebSocket } from './check-websocket.ts';
import { createFailedCheck, createOkCheck, createWarningCheck } from './installation-finding.ts';
import { isLoopback, joinServicePath } from './service-url.ts';

/** A URL to check. `certificates` are trusted in addition to those of Node, in PEM format. */
export type ServiceUrl = { readonly url: URL; readonly source: string; readonly certificates: readonly string[] };

const timeoutMs = 10_000;
const subject = 'Public URL';

/**
 * Uses the URL of a service as clients do, without a credential: name, TLS, proxy, WebSocket, uploads. Stops at the first failure of
 * name, TLS or proxy, because the later checks would fail for the same reason. `source` is where the URL comes from, such as
 * `BOTHOST_PUBLIC_URL`.
 */
export async function checkPublicUrl(
  io: Pick<CommandIo, 'fetch' | 'signal' | 'environment' | 'now'>,
  { url, source, certificates }: ServiceUrl,
): Promise<InstallationCheck[]> {
  const { network } = io.environment;
  const isProxied = (network?.httpProxy ?? network?.httpsProxy ?? null) !== null && !isLoopback(url);
  const checks: InstallationCheck[] = [];
  if (url.protocol === 'https:' && !isProxied) {
    const certificate = await checkCertificate(url, certificates, { timeoutMs, now: io.now() });
    if (certificate !== null) checks.push(certificate);
    if (certificate?.state === 'failed') return checks;
  }
  const response = await checkResponse(io, url, source);
  checks.push(response);
  if (response.state === 'failed') return checks;
  if (isProxied) return [...checks, describeUncheckable()];
  const connection = { url, certificates, timeoutMs };
  return [...checks, await checkWebSocket(connection), await checkUploadLimit(connection)];
}

function describeUncheckable(): InstallationCheck {
  return createWarningCheck(
    'TLS, WebSocket, uploads',
    'They were not checked, because this machine connects through HTTP_PROXY or HTTPS_PROXY.',
    'Run this command on a machine that connects directly.',
  );
}

async function checkResponse(
  { fetch, signal }: Pick<CommandIo, 'fetch' | 'signal'>,
  url: URL,
  source: string,
): Promise<InstallationCheck> {
  let response: Response;
  try {
    response = await fetch(joinServicePath(url, '/healthz'), {
      redirect: 'manual',
      signal: AbortSignal.any([signal, createTimeout(timeoutMs)]),
    });
    await response.arrayBuffer();
  } catch (error) {
    signal.throwIfAborted();
    return describeConnectionError(error, url, source);
  }
  const { status, headers } = response;
  if (headers.has(serviceVersionHeader)) return describeReachable(url);
  const location = headers.get('location');
  if (status >= 300 && status < 400 && location !== null)
    return createFailedCheck(
      subject,
      `${url.origin} redirects to ${location}.`,
      `Set ${source} to a URL that does not redirect.`,
    );
  return createFailedCheck(
    subject,
    `${url.origin} responds with ${status}, but this response does not come from the service.`,
    status === 502 || status === 503 || status === 504
      ? 'Check that the proxy forwards to the address and port on which the service listens.'
      : `Correct ${source}, or make the proxy forward all paths to the service. See docs/reverse-proxy.md.`,
  );
}

function describeReachable(url: URL): InstallationCheck {
  if (isLoopback(url))
    return createWarningCheck(
      subject,
      `The URLs of the service begin with ${url.origin}, so they work on its machine only.`,
      'If other machines use the service, put a proxy with TLS in front of it, and set BOTHOST_PUBLIC_URL. See docs/reverse-proxy.md.',
    );
  if (url.protocol === 'http:')
    return createFailedCheck(
      subject,
      `${url.origin} has no TLS: keys are sent unencrypted, and browsers give its pages no microphone.`,
      'Put a proxy with TLS in front of the service, and set BOTHOST_PUBLIC_URL to its https URL. See docs/reverse-proxy.md.',
    );
  return createOkCheck(subject, `The service responds at ${url.origin}.`);
}

function describeConnectionError(error: unknown, url: URL, source: string): InstallationCheck {
  const isTimeout = error instanceof DOMException && error.name === 'TimeoutError';
  const code = isTimeout ? 'ETIMEDOUT' : error instanceof Error ? findNetworkErrorCode(error) : null;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return createFailedCheck(
      subject,
      `The name ${url.hostname} has no address.`,
      `Create a DNS record for it, or correct ${source}.`,
    );
  if (code === 'ECONNREFUSED')
    return createFailedCheck(
      subject,
      `No program listens at ${url.origin}.`,
      `Start the service and its proxy, or correct ${source}.`,
    );
  return createFailedCheck(
    subject,
    `The connection to ${url.origin} failed (${code ?? 'unknown error'}).`,
    'Check firewalls and port forwarding. A machine behind NAT may not reach its own public address: then run this command elsewhere.',
  );
}
