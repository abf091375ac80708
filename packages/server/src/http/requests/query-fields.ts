/** Removes fields from a query, which is empty or begins with `?`. The rest stays byte for byte. */
export function removeQueryFields(query: string, ...names: readonly string[]): string {
  const fields = query.slice(1).split('&');
  const kept = fields.filter((field) => !names.some((name) => parse(field).has(name)));
  if (kept.length === fields.length) return query;
  return kept.length === 0 ? '' : `?${kept.join('&')}`;
}

/** Returns the decoded value of the first field with this name. Null if there is none. */
export function findQueryField(query: string, name: string): string | null {
  return parse(query.slice(1)).get(name);
}

/** Parses fields. `URLSearchParams` would remove a `?` from their beginning, so it gets a `&`, which it ignores. */
function parse(fields: string): URLSearchParams {
  return new URLSearchParams(`&${fields}`);
}
