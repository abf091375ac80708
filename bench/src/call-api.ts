import { request } from 'undici';
import type { BenchmarkedService } from './benchmarked-service.ts';

/** Calls the API with the private key. Returns the JSON document. @throws Error with the response if the call fails */
export async function callApi(
  service: Pick<BenchmarkedService, 'origin' | 'privateKey'>,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: object,
): Promise<unknown> {
  const headers = { authorization: `Bearer ${service.privateKey}`, 'content-type': 'application/json' };
  const options = { method, headers, body: body === undefined ? null : JSON.stringify(body) };
  const answer = await request(service.origin + path, options);
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(`${method} ${path} failed with status ${answer.statusCode}: ${text}`);
  return JSON.parse(text);
}
