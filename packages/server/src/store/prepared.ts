import { CompiledQuery } from 'kysely';

/**
 * A query that PostgreSQL parses and plans once per connection, for frequent queries. List its columns explicitly: a prepared
 * `*` fails when a later version adds one.
 */
export function preparedQuery<Row>(name: string, text: string, parameters: readonly unknown[]): CompiledQuery<Row> {
  return CompiledQuery.raw(`/* prepared: ${name} */ ${text}`, [...parameters]) as CompiledQuery<Row>;
}

/** The name of a prepared query, read from its text, because Kysely passes nothing else to the driver. */
export function preparedName(text: string): string | undefined {
  return /^\/\* prepared: ([a-z-]+) \*\//.exec(text)?.[1];
}
