import { CompiledQuery } from 'kysely';

/**
 * A query that PostgreSQL parses and plans once per connection: for what is asked all day. Its columns must be written
 * out, since a prepared `*` fails when a later version's migration adds one.
 */
export function preparedQuery<Row>(name: string, text: string, parameters: readonly unknown[]): CompiledQuery<Row> {
  return CompiledQuery.raw(`/* prepared: ${name} */ ${text}`, [...parameters]) as CompiledQuery<Row>;
}

/** The name that a prepared query carries in its text, which is all that reaches the driver. */
export function preparedName(text: string): string | undefined {
  return /^\/\* prepared: ([a-z-]+) \*\//.exec(text)?.[1];
}
