type Search = Readonly<Record<string, unknown>>;

/** Returns parameters of a URL. A value that is not a string becomes undefined. */
export function readTextParameters<const Name extends string>(search: Search, names: readonly Name[]) {
  return readParameters(search, names, (value) => (typeof value === 'string' ? value : undefined));
}

/** Returns parameters of a URL. A value that is not a number becomes undefined. */
export function readNumberParameters<const Name extends string>(search: Search, names: readonly Name[]) {
  return readParameters(search, names, (value) => (typeof value === 'number' ? value : undefined));
}

function readParameters<Name extends string, Value>(
  search: Search,
  names: readonly Name[],
  read: (value: unknown) => Value,
) {
  return Object.fromEntries(names.map((name) => [name, read(search[name])])) as { readonly [N in Name]: Value };
}
