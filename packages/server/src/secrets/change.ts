/** What is there of one key: its place among the values. */
export type Entry = readonly [key: string, revision: number];

/** What a write does to each key. */
export type KeyChange = {
  readonly key: string;
  readonly change: 'new' | 'changed' | 'unchanged' | 'removed';
};

export type Write = {
  /** All keys that are written. */
  readonly keys: readonly string[];
  readonly remove: readonly string[];
  readonly mode: 'merge' | 'replace';
};

/**
 * What a write makes of a set's entries: `isSame` tells of a key that is there whether its value would stay. Pure.
 * `entries` of the result are in order of their keys; written ones belong to the revision `next`.
 */
export function planChange(
  before: readonly Entry[],
  write: Write,
  next: number,
  isSame: (key: string) => boolean,
): { readonly changes: readonly KeyChange[]; readonly entries: readonly Entry[]; readonly changed: boolean } {
  const known = new Map(before);
  const written = new Set(write.keys);
  const gone = new Set(
    write.mode === 'replace' ? before.map(([key]) => key).filter((key) => !written.has(key)) : write.remove,
  );
  const changes = [
    ...write.keys.map((key): KeyChange => {
      if (!known.has(key)) return { key, change: 'new' };
      return { key, change: isSame(key) ? 'unchanged' : 'changed' };
    }),
    ...[...gone].filter((key) => known.has(key)).map((key): KeyChange => ({ key, change: 'removed' })),
  ].sort((one, other) => compare(one.key, other.key));
  const after = new Map(known);
  for (const { key, change } of changes) {
    if (change === 'removed') after.delete(key);
    else if (change !== 'unchanged') after.set(key, next);
  }
  return {
    changes,
    entries: [...after].sort(([one], [other]) => compare(one, other)),
    changed: changes.some(({ change }) => change !== 'unchanged'),
  };
}

/** The keys of one kind of change. */
export function keysOf(changes: readonly KeyChange[], kind: KeyChange['change']): string[] {
  return changes.filter(({ change }) => change === kind).map(({ key }) => key);
}

export function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
