import { CompiledQuery } from 'kysely';

/** A query that PostgreSQL plans once per connection. List columns by name: `select *` fails after a column is added. */
export function createPreparedQuery<Row>(
  name: string,
  text: string,
  parameters: readonly unknown[],
): CompiledQuery<Row> {
  return CompiledQuery.raw(`/* prepared: ${name} */ ${text}`, [...parameters]) as CompiledQuery<Row>;
}

/** The name of a prepared query, or undefined. It is a comment in the text: Kysely passes no other field to the driver. */
export function findPreparedQueryName(text: string): string | undefined {
  return /^\/\* prepared: ([a-z-]+) \*\//.exec(text)?.[1];
}
