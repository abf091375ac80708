/** Compares the first three numbers of two versions. Missing numbers count as 0. */
export function isOlderVersion(version: string, than: string): boolean {
  const [left, right] = [numbers(version), numbers(than)];
  const index = [0, 1, 2].findIndex((at) => (left[at] ?? 0) !== (right[at] ?? 0));
  return index !== -1 && (left[index] ?? 0) < (right[index] ?? 0);
}

function numbers(version: string): readonly number[] {
  return version.split(/[.+-]/).slice(0, 3).map(Number);
}
