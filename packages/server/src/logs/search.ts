/** So few texts are quicker looked for one by one. */
const few = 24;
const windowBytes = 4;
/** A bit for each hash of so many bytes, by which most places of a part are passed over. */
const hashBits = 16;

/**
 * Which of many texts of at least four bytes are in a part of an output: in one pass over it, however many there are. A text
 * is looked for in earnest once its first bytes turned up.
 */
export function createSearch(texts: readonly string[]): (part: Buffer) => readonly string[] {
  const all = texts.map((text) => ({ text, bytes: Buffer.from(text) }));
  if (all.length <= few) return (part) => all.filter(({ bytes }) => part.includes(bytes)).map(({ text }) => text);
  const byBeginning = new Map<number, typeof all>();
  const mayBegin = new Uint8Array(1 << hashBits);
  for (const one of all) {
    const beginning = one.bytes.readInt32BE(0);
    const alike = byBeginning.get(beginning) ?? [];
    alike.push(one);
    byBeginning.set(beginning, alike);
    mayBegin[hashOf(beginning)] = 1;
  }
  return (part) => {
    const found: string[] = [];
    const seen = new Set<number>();
    let window = 0;
    for (let end = 0; end < part.length; end++) {
      window = (window << 8) | (part[end] ?? 0);
      if (mayBegin[hashOf(window)] === 0 || end < windowBytes - 1 || seen.has(window)) continue;
      const alike = byBeginning.get(window);
      if (alike === undefined) continue;
      seen.add(window);
      const from = end - windowBytes + 1;
      for (const { text, bytes } of alike) if (part.includes(bytes, from)) found.push(text);
    }
    return found;
  };
}

function hashOf(window: number): number {
  return Math.imul(window, 0x9e3779b1) >>> (32 - hashBits);
}
