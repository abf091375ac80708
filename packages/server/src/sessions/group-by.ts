/** Like `Map.groupBy`, which Node.js 20 does not have. */
export function groupBy<Item, Key>(
  items: readonly Item[],
  key: (item: Item) => Key,
): ReadonlyMap<Key, readonly Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group === undefined) groups.set(key(item), [item]);
    else group.push(item);
  }
  return groups;
}
