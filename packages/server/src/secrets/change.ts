/** A key of a secret set, and the revision in which its value was written. */
export type SecretSetKeyRevision = readonly [key: string, revision: number];

export type SecretSetKeyChange = {
  readonly key: string;
  readonly change: 'new' | 'changed' | 'unchanged' | 'removed';
};

type Write = {
  readonly keys: readonly string[];
  readonly remove: readonly string[];
  readonly mode: 'merge' | 'replace';
};

/**
 * Plans how a write changes the keys of a secret set. `isSame` returns whether an existing key already has the value to write.
 * The returned `entries` are sorted by key; new and changed keys have the revision `next`.
 */
export function planChange(
  before: readonly SecretSetKeyRevision[],
  write: Write,
  next: number,
  isSame: (key: string) => boolean,
): {
  readonly changes: readonly SecretSetKeyChange[];
  readonly entries: readonly SecretSetKeyRevision[];
  readonly changed: boolean;
} {
  const known = new Map(before);
  const written = new Set(write.keys);
  const removed = new Set(
    write.mode === 'replace' ? before.map(([key]) => key).filter((key) => !written.has(key)) : write.remove,
  );
  const changes = [
    ...write.keys.map((key): SecretSetKeyChange => {
      if (!known.has(key)) return { key, change: 'new' };
      return { key, change: isSame(key) ? 'unchanged' : 'changed' };
    }),
    ...[...removed].filter((key) => known.has(key)).map((key): SecretSetKeyChange => ({ key, change: 'removed' })),
  ].sort((one, other) => compareStrings(one.key, other.key));
  const after = new Map(known);
  for (const { key, change } of changes) {
    if (change === 'removed') after.delete(key);
    else if (change !== 'unchanged') after.set(key, next);
  }
  return {
    changes,
    entries: [...after].sort(([one], [other]) => compareStrings(one, other)),
    changed: changes.some(({ change }) => change !== 'unchanged'),
  };
}

export function listKeysWithChangeKind(
  changes: readonly SecretSetKeyChange[],
  kind: SecretSetKeyChange['change'],
): string[] {
  return changes.filter(({ change }) => change === kind).map(({ key }) => key);
}

export function compareStrings(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
