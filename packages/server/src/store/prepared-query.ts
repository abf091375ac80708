import { CompiledQuery } from 'kysely';

/**
 * Creates a query that PostgreSQL plans once per connection. List its columns by name: a prepared `select *` fails
 * after a column is added.
 */
export function createPreparedQuery<Row>(
  name: string,
  text: string,
  parameters: readonly unknown[],
): CompiledQuery<Row> {
  return CompiledQuery.raw(`/* prepared: ${name} */ ${text}`, [...parameters]) as CompiledQuery<Row>;
}

/**
 * Returns the name of a prepared query, or undefined for any other query. The name is a comment in the text of the query,
 * because Kysely passes no other field for a name to the driver.
 */
export function findPreparedQueryName(text: string): string | undefined {
  return /^\/\* prepared: ([a-z-]+) \*\//.exec(text)?.[1];
}
