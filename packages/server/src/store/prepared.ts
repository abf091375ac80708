import { CompiledQuery } from 'kysely';

/**
 * A query that is planned once per connection. List the columns: a prepared `select *` fails after a column is added.
 */
export function preparedQuery<Row>(name: string, text: string, parameters: readonly unknown[]): CompiledQuery<Row> {
  return CompiledQuery.raw(`/* prepared: ${name} */ ${text}`, [...parameters]) as CompiledQuery<Row>;
}

/** The name of a prepared query, read from its text, because Kysely passes nothing else to the driver. */
export function preparedName(text: string): string | undefined {
  return /^\/\* prepared: ([a-z-]+) \*\//.exec(text)?.[1];
}
