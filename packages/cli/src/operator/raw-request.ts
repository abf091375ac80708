import { type ClientRequest, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { joinServicePath } from './service-url.ts';

/** How to reach the service. `certificates` are trusted in addition to those of Node, in PEM format. */
export type ServiceConnection = {
  readonly url: URL;
  readonly certificates: readonly string[];
  readonly timeoutMs: number;
};

/** Creates a request on a connection of its own, whose headers are not changed. The caller ends and destroys it. */
export function createRawRequest(
  { url, certificates, timeoutMs }: ServiceConnection,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): ClientRequest {
  const target = joinServicePath(url, path);
  const signal = AbortSignal.timeout(timeoutMs);
  const options = { method, headers, agent: false, signal };
  if (target.protocol === 'http:') return requestHttp(target, options);
  return requestHttps(target, { ...options, ...(certificates.length === 0 ? {} : { ca: [...certificates] }) });
}
