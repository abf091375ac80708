/** Counts the kills of a crash test by the point at which they hit. */
export type KillTally<Point extends string> = {
  readonly add: (point: Point) => void;
  readonly times: (point: Point) => number;
  readonly total: () => number;
  /** Returns the point with the fewest kills. */
  readonly rarest: () => Point;
  /** Prints the counts, followed by `details`. */
  readonly print: (seed: number, ...details: readonly string[]) => void;
};

export function createKillTally<Point extends string>(...points: readonly [Point, ...Point[]]): KillTally<Point> {
  const counts = new Map<Point, number>();
  const times = (point: Point) => counts.get(point) ?? 0;
  return {
    add: (point) => counts.set(point, times(point) + 1),
    times,
    total: () => points.reduce((sum, point) => sum + times(point), 0),
    rarest: () => points.reduce((rarest, point) => (times(point) < times(rarest) ? point : rarest)),
    print: (seed, ...details) => {
      const kills = points.map((point) => `${point} ${times(point)}`).join(', ');
      process.stdout.write(`kills with seed ${seed}: ${[kills, ...details].join('; ')}\n`);
    },
  };
}
