/** One line of the table: a figure, its reference in the same run, and the allowed ratio. */
export type Figure = {
  readonly what: string;
  readonly ours: string;
  readonly reference: string;
  /** Ours divided by the reference; null if the two are not compared. */
  readonly ratio: number | null;
  readonly limit: Limit | null;
};

export type Limit = { readonly most: number } | { readonly least: number };

/** A benchmark: its name on the command line, and its figures. */
export type Bench = {
  readonly name: string;
  readonly run: (options: BenchOptions) => Promise<readonly Figure[]>;
};

export type BenchOptions = {
  /** Fewer samples and rows: a check of the benchmark, not a result. */
  readonly quick: boolean;
  readonly log: (line: string) => void;
};

export type Verdict = 'pass' | 'over' | '';

/** A ratio that could not be measured exceeds its limit. */
export function verdictOf({ ratio, limit }: Pick<Figure, 'ratio' | 'limit'>): Verdict {
  if (limit === null) return '';
  if (ratio === null) return 'over';
  return ('most' in limit ? ratio <= limit.most : ratio >= limit.least) ? 'pass' : 'over';
}

export const milliseconds = (value: number): string => `${value.toFixed(2)} ms`;
export const perSecond = (value: number): string => `${Math.round(value)} /s`;
export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
export const percentOfCore = (share: number): string => `${(share * 100).toFixed(1)} % of a core`;
