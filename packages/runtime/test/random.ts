/** A seeded generator of numbers in [0, 1) (Mulberry32), so that a failed run can be repeated. */
export type Random = {
  readonly next: () => number;
  /** Returns an integer in [0, limit). */
  readonly below: (limit: number) => number;
  readonly pick: <T>(values: readonly [T, ...T[]]) => T;
};

export function createSeededRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit: number) => Math.floor(next() * limit);
  return { next, below, pick: (values) => values[below(values.length)] ?? values[0] };
}
