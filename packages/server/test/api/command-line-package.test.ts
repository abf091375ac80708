import { afterAll, expect, test } from 'vitest';
import { startTestServer } from '../support/test-server.ts';

const service = await startTestServer({ agents: [] });
afterAll(() => service.close());

const get = (headers: Record<string, string> = {}) => fetch(`${service.url}/botcli.tgz`, { headers });

test('the service serves a gzip file below 1 MB that clients revalidate before each use', async () => {
  const response = await get();
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('application/gzip');
  expect(response.headers.get('cache-control')).toBe('no-cache');
  const bytes = Buffer.from(await response.arrayBuffer());
  expect(bytes.subarray(0, 2).toString('hex')).toBe('1f8b');
  expect(bytes.length).toBeLessThan(1_000_000);
});

test.each([
  ['the same tag', (etag: string) => etag, 304],
  ['a strong form of the tag', (etag: string) => etag.replace(/^W\//, ''), 304],
  ['a list of tags', (etag: string) => `"other", ${etag}`, 304],
  ['any tag', () => '*', 304],
  ['another tag', () => '"other"', 200],
])('a request whose If-None-Match is %s gets its status', async (_, toHeader, status) => {
  const etag = (await get()).headers.get('etag') ?? '';
  // fetch would add `cache-control: no-cache`, which asks for the whole file.
  const headers = { 'if-none-match': toHeader(etag), 'cache-control': 'max-age=0' };
  expect((await get(headers)).status).toBe(status);
});

test('every response names the version of the service, errors included', async () => {
  for (const path of ['/botcli.tgz', '/healthz', '/v1/agents', '/missing']) {
    const response = await fetch(service.url + path);
    expect(response.headers.get('bothost-version'), path).toMatch(/^\d+\.\d+\.\d+$/);
  }
});
