import { allOperations } from '@bothost/contract';
import { fastify } from 'fastify';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createResponseSchema } from './response-schema.ts';

/** Serializes `value` with the schema of `type`, as routes do. */
async function written(type: z.ZodType, value: Record<string, unknown>): Promise<unknown> {
  const app = fastify();
  app.get('/', (_, reply) => reply.serializeInput(value, createResponseSchema(type)));
  const answer = await app.inject('/');
  await app.close();
  return answer.json();
}

describe('a response serialized with its schema', () => {
  const type = z.object({
    name: z.string(),
    note: z.string().nullable(),
    inner: z.object({ n: z.number().int() }).nullable(),
    rows: z.array(z.object({ id: z.string() })),
    free: z.record(z.string(), z.unknown()).nullable(),
    maybe: z.string().optional(),
  });

  it('has all declared fields, even with the value null', async () => {
    const value = { name: 'a', note: null, inner: null, rows: [], free: null };
    expect(await written(type, value)).toEqual(value);
  });

  it('has all declared fields at any depth if none of them is null', async () => {
    const value = {
      name: 'a',
      note: 'b',
      inner: { n: 1 },
      rows: [{ id: 'x' }],
      free: { anything: [1, { deep: null }] },
      maybe: 'm',
    };
    expect(await written(type, value)).toEqual(value);
  });

  it('omits undeclared fields at any depth', async () => {
    const value = {
      name: 'a',
      note: null,
      inner: { n: 1, secret: 's' },
      rows: [{ id: 'x', secret: 's' }],
      free: null,
      secret: 's',
    };
    expect(await written(type, value)).toEqual({
      name: 'a',
      note: null,
      inner: { n: 1 },
      rows: [{ id: 'x' }],
      free: null,
    });
  });
});

it('every operation has a response schema without $ref', async () => {
  for (const operation of Object.values(allOperations)) {
    const schema = createResponseSchema(operation.response);
    expect(JSON.stringify(schema), operation.name).not.toContain('$ref');
    const app = fastify();
    app.get('/', { schema: { response: { 200: schema } } }, async () => ({}));
    await app.ready();
    await app.close();
  }
});
