import { z } from 'zod';

type Schema = { [key: string]: unknown };

/**
 * A response schema for the framework's serializer: without references. The serializer writes declared fields only, so no
 * field leaks that the contract does not declare, and it is as fast as `JSON.stringify`. `X or null` becomes `nullable`,
 * which it can decide without trying both.
 */
export function responseSchema(type: z.ZodType): Schema {
  const { $schema: _, ...schema } = z.toJSONSchema(type, {
    io: 'output',
    metadata: z.registry(),
    unrepresentable: 'any',
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
  return schema;
}
