import { allOperations, operations, type SessionEvent } from '@bothost/contract';
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

it('a response with session events has every field of their details, also of unknown codes', async () => {
  const { events } = operations.getSession.response.shape;
  const eventTs = '2026-11-23T12:00:00.000Z';
  const exit = { code: null, signal: 'SIGKILL', outOfMemory: false, diskLimit: 'It used 9 MiB.', tail: 'bye' };
  const known: readonly SessionEvent[] = [
    { eventCode: 'INSTANCE_EXITED', eventTs, detail: exit },
    { eventCode: 'INSTANCE_EXITED', eventTs, detail: { code: 3, signal: null, outOfMemory: true } },
    { eventCode: 'INSTANCE_LISTENS_WIDE', eventTs, detail: { detail: 'It listens on 0.0.0.0.' } },
    { eventCode: 'SOCKET_REFUSED', eventTs, detail: { status: 404, phrase: '' } },
  ];
  const value = { events: [...known, { eventCode: 'INSTANCE_MOVED', eventTs, detail: { to: { host: [1, null] } } }] };
  expect(await written(z.object({ events }), value)).toEqual(value);
});

it('a response with a conversation has its lines as they are', async () => {
  const { lines } = operations.getSessionConversation.response.shape;
  const value = {
    lines: [
      { kind: 'turn', at: 5, turn: 1, from: 1, released: null, to: null },
      { kind: 'said', at: 6, turn: 1, side: 'user', text: 'How are you?', from: 1, to: 4, typed: true },
      { kind: 'end', at: 9, reason: null },
    ],
  };
  expect(await written(z.object({ lines }), value)).toEqual(value);
  expect(createResponseSchema(lines)).toEqual({ type: 'array', items: {} });
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
