/**
 * Assigns each page of the navigation the key that opens it after `g`: the first letter of its label that no earlier label uses.
 * If earlier labels use all letters of a label, its page has no key.
 */
export function shortcutKeys(labels: readonly string[]): ReadonlyMap<string, string> {
  const keys = new Map<string, string>();
  for (const label of labels) {
    const key = [...label.toLowerCase()].find((letter) => /[a-z]/.test(letter) && !keys.has(letter));
    if (key !== undefined) keys.set(key, label);
  }
  return keys;
}
