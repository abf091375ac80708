import { allOperations, ErrorResponse, listOperationPaths, openApiDocument } from '@bothost/contract';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { useTestServer } from '../support/use-test-server.ts';

const service = await useTestServer({ bots: { asked: {} } });

const anyText = fc.oneof(
  fc.constantFrom('asked', 'test-org', '0192f0c4-7d2a-7c11-8a53-6f2f4d1f0a11', 'us-west', '10', '-1', '0', '1e308'),
  fc.constantFrom('\0', '%', '..', "'", '"', '9'.repeat(40), 'x'.repeat(3_000), 'Infinity', 'NaN', '\ud800', '😀'),
  fc.string({ unit: 'binary', maxLength: 20 }),
);
const anyValue = fc.oneof(anyText, fc.jsonValue({ stringUnit: 'binary' }), fc.double(), fc.boolean());
const names = ['name', 'kind', 'expiresInSeconds', 'defaultRegion', 'transport', 'body', 'fields', 'createDailyRoom'];
const queries = Object.values(allOperations).flatMap(({ query }) => Object.keys(query.shape));

/** Percent-encodes each byte. `encodeURIComponent` cannot be used, because it throws for a lone surrogate. */
function encode(text: string): string {
  return [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
}

const anyRequest = fc
  .record({
    operation: fc.constantFrom(...Object.values(allOperations).filter(({ name }) => name !== 'startSession')),
    mount: fc.nat(1),
    params: fc.array(anyText, { minLength: 4, maxLength: 4 }),
    query: fc.dictionary(fc.constantFrom(...queries), anyText, { maxKeys: 4 }),
    body: fc.dictionary(fc.constantFrom(...names), anyValue, { maxKeys: 4 }),
  })
  .map(({ operation, mount, params, query, body }) => {
    const paths = listOperationPaths(operation);
    let next = 0;
    const template = paths[mount % paths.length] ?? '';
    const path = template.replace(/\{\w+\}/g, () => encode(params[next++] ?? ''));
    const fields = Object.entries(query).map(([name, value]) => `${name}=${encode(value)}`);
    return { method: operation.method, template, target: `${path}?${fields.join('&')}`, body: JSON.stringify(body) };
  });

const { paths } = openApiDocument('http://127.0.0.1') as {
  paths: Record<string, Record<string, { responses: Record<string, unknown> }>>;
};

it('no arbitrary request causes a 500 or an undocumented status, and every error response has the error object', async () => {
  await fc.assert(
    fc.asyncProperty(anyRequest, async ({ method, template, target, body }) => {
      const answer = await fetch(service.url + target, {
        method,
        headers: { authorization: `Bearer ${service.privateKey}` },
        ...(method === 'GET' ? {} : { body }),
      });
      const json: unknown = await answer.json();
      expect(answer.status, JSON.stringify(json)).toBeLessThan(500);
      // Do not check the status if an empty parameter or `..` turned the path into the path of another operation, because the
      // expected statuses are documented for the original operation.
      const isOtherPath = /\/[/?]/.test(target) || !target.startsWith(`${new URL(answer.url).pathname}?`);
      const documented = Object.keys(paths[template]?.[method.toLowerCase()]?.responses ?? {});
      // Also allow 431 (headers too large). Operations do not document this status, because any request can cause it.
      if (!isOtherPath) expect([...documented, '431']).toContain(String(answer.status));
      if (answer.status >= 400) expect(ErrorResponse.parse(json).requestId).toBe(answer.headers.get('x-request-id'));
    }),
    { numRuns: 600 },
  );
});
