import { ConversationLine } from '@bothost/contract';
import { z } from 'zod';

type Schema = { [key: string]: unknown };

/**
 * A response schema with every `$ref` inlined, as the serializer requires. Only declared fields are written, so
 * undeclared fields cannot leak. `X or null` becomes `nullable`, so that the serializer need not try both alternatives. Lines of
 * conversations are written as they are, because they were parsed when they were read, and a response has thousands of them.
 */
export function createResponseSchema(type: z.ZodType): Schema {
  const { $schema: _, ...schema } = z.toJSONSchema(type, {
    io: 'output',
    metadata: z.registry(),
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema === ConversationLine) for (const name of Object.keys(jsonSchema)) delete jsonSchema[name];
    },
  }) as Schema;
  return simplify(schema) as Schema;
}

function simplify(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(simplify);
  if (typeof node !== 'object' || node === null) return node;
  const schema = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, simplify(value)])) as Schema;
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return schema;
  const [one, other] = anyOf as [Schema, Schema];
  if (other['type'] === 'null') return { ...rest, ...one, nullable: true };
  // Any string is allowed, so the serializer need not check the known ones first.
  if (one['type'] === 'string' && other['type'] === 'string') return { ...rest, type: 'string' };
  return schema;
}
