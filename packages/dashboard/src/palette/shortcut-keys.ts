/**
 * Maps the key that opens a page after `g` to the label of the page. The key is the first letter of the label that is not the
 * key of an earlier page. A page without such a letter has no key.
 */
export function shortcutKeys(labels: readonly string[]): ReadonlyMap<string, string> {
  const keys = new Map<string, string>();
  for (const label of labels) {
    const key = [...label.toLowerCase()].find((letter) => /[a-z]/.test(letter) && !keys.has(letter));
    if (key !== undefined) keys.set(key, label);
  }
  return keys;
}
