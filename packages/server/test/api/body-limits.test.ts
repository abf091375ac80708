import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import {
  allOperations,
  listOperationPaths,
  maxProxyBodyBytes,
  maxUploadBytes,
  type Operation,
} from '@bothost/contract';
import { expect, it } from 'vitest';
import { createBearerTokenHeaders, startAgentSession } from '../support/client.ts';
import { signUpPerson } from '../support/people.ts';
import { useTestServer } from '../support/use-test-server.ts';

const service = await useTestServer({ bots: { plain: {} } });
const operatorToken = (await readFile(join(service.dataDirectory, 'operator-token'), 'utf8')).trim();
const { cookie } = await signUpPerson(service, 'owner');
const headersOfPerson = { cookie: cookie(), 'sec-fetch-site': 'same-origin' };

/** Sends only the head of a request with this `Content-Length`, so that no test sends hundreds of megabytes. */
async function announce(method: string, url: string, bytes: number, headers: Record<string, string>) {
  const sent = request(url, { method, headers: { ...headers, 'content-length': String(bytes) } });
  sent.on('error', () => undefined);
  sent.flushHeaders();
  const [status, answer] = await new Promise<[number | undefined, string]>((resolve, reject) => {
    sent.once('response', async (response) => resolve([response.statusCode, await text(response)]));
    sent.once('close', () => reject(new Error('no response')));
  });
  sent.destroy();
  return [status, JSON.parse(answer).error as string];
}

function headersFor({ key }: Operation): Record<string, string> {
  if (key === 'public') return createBearerTokenHeaders(service.publicKey).headers;
  return key === 'operator' ? createBearerTokenHeaders(operatorToken).headers : headersOfPerson;
}

const withBody = Object.values(allOperations).filter((operation: Operation) => operation.bodyBytes > 0);

it.each(withBody.map((operation: Operation) => [operation.name, operation] as const))(
  'a request body of %s that is too large gets an error with the limit of the operation',
  async (_, operation) => {
    const path = listOperationPaths(operation)
      .at(-1)
      ?.replace('{organization}', 'test-org')
      .replace(/\{\w+\}/g, 'plain');
    const { bodyBytes } = operation;
    const message = `The request body is too large. The limit is ${bodyBytes} bytes.`;
    const answer = await announce(operation.method, service.url + path, bodyBytes + 1, headersFor(operation));
    expect(answer).toEqual([413, message]);
  },
);

it('a request through the session proxy that is too large gets an error with its limit', async () => {
  const url = `${service.url}/v1/public/plain/sessions/${await startAgentSession(service, 'plain')}/echo`;
  const { headers } = createBearerTokenHeaders(service.publicKey);
  expect(await announce('POST', url, maxProxyBodyBytes + 1, headers)).toEqual([
    413,
    `The request body is too large. The limit is ${maxProxyBodyBytes} bytes.`,
  ]);
});

it('an upload that is larger than announced, or than any upload may be, gets an error with that limit', async () => {
  const body = { region: 'us-west', contentHash: randomBytes(32).toString('hex'), sizeBytes: 10 };
  const { uploadUrl, uploadFields } = await service.client.getBuildUploadUrl({ body });
  const headers = { 'upload-token': uploadFields.token, 'upload-offset': '0' };
  const response = await fetch(uploadUrl, { method: 'PATCH', headers, body: 'x'.repeat(11) });
  expect([response.status, ((await response.json()) as { error: string }).error]).toEqual([
    413,
    'The archive is larger than its announced size, 10 bytes.',
  ]);
  const answer = await announce('POST', uploadUrl, maxUploadBytes + 70_000, {});
  expect(answer).toEqual([413, 'The archive is larger than 500 MiB.']);
});
