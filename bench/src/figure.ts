/** One row of the results: a measured figure, its reference from the same run, and the allowed ratio. */
export type BenchmarkFigure = {
  readonly what: string;
  readonly ours: string;
  readonly reference: string;
  /** The figure divided by its reference. Null if the two are not compared. */
  readonly ratio: number | null;
  readonly limit: BenchmarkRatioLimit | null;
};

export type BenchmarkRatioLimit = { readonly most: number } | { readonly least: number };

/** A benchmark: its name on the command line, and the function that measures its figures. */
export type Benchmark = {
  readonly name: string;
  /** Whether the benchmark's figures have a separate table in `docs/performance.md`. */
  readonly hasOwnTable?: true;
  readonly run: (options: BenchmarkOptions) => Promise<void>;
};

export type BenchmarkOptions = {
  /** Whether to use fewer samples and rows, in order to test the benchmark itself. */
  readonly quick: boolean;
  readonly log: (line: string) => void;
  /** Prints and stores figures. Called as soon as they are measured, so that an interrupted run keeps them. */
  readonly report: (...figures: readonly BenchmarkFigure[]) => void;
};

export type LimitComparison = 'pass' | 'over' | '';

/** A ratio that could not be measured counts as exceeding its limit. */
export function compareFigureWithLimit({ ratio, limit }: Pick<BenchmarkFigure, 'ratio' | 'limit'>): LimitComparison {
  if (limit === null) return '';
  if (ratio === null) return 'over';
  return ('most' in limit ? ratio <= limit.most : ratio >= limit.least) ? 'pass' : 'over';
}

export const formatMilliseconds = (value: number): string => `${value.toFixed(2)} ms`;
export const formatPerSecond = (value: number): string => `${Math.round(value)} /s`;
export const formatMegabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
export const formatPercentOfCore = (share: number): string => `${(share * 100).toFixed(1)} % of a core`;
