/** Returns the candidate with the smallest edit distance to a word, or null if none is similar enough. */
export function findClosestWord(word: string, candidates: readonly string[]): string | null {
  let best: { readonly candidate: string; readonly distance: number } | null = null;
  for (const candidate of candidates) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    const longest = Math.max(word.length, candidate.length);
    const allowed = longest < 4 ? 1 : Math.max(2, Math.floor(longest / 3));
    if (distance <= allowed && (best === null || distance < best.distance)) best = { candidate, distance };
  }
  return best?.candidate ?? null;
}

/** Computes the Levenshtein distance. */
function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const substitution = (previous[column - 1] ?? 0) + (from[row - 1] === to[column - 1] ? 0 : 1);
      current.push(Math.min(substitution, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[to.length] ?? 0;
}
