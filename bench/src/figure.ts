/** One line of the table: a figure, what it was measured against in the same run, and how far they may be apart. */
export type Figure = {
  readonly what: string;
  readonly ours: string;
  readonly reference: string;
  /** Ours divided by the reference; null where the two are not compared. */
  readonly ratio: number | null;
  readonly limit: Limit | null;
};

export type Limit = { readonly most: number } | { readonly least: number };

/** A bench: its name on the command line and what it yields. */
export type Bench = {
  readonly name: string;
  readonly run: (options: BenchOptions) => Promise<readonly Figure[]>;
};

export type BenchOptions = {
  /** Fewer samples and rows: to see that it works, not to quote. */
  readonly quick: boolean;
  readonly log: (line: string) => void;
};

export type Verdict = 'pass' | 'over' | '';

/** A ratio that could not be measured is over its limit. */
export function verdictOf({ ratio, limit }: Pick<Figure, 'ratio' | 'limit'>): Verdict {
  if (limit === null) return '';
  if (ratio === null) return 'over';
  return ('most' in limit ? ratio <= limit.most : ratio >= limit.least) ? 'pass' : 'over';
}

export const milliseconds = (value: number): string => `${value.toFixed(2)} ms`;
export const perSecond = (value: number): string => `${Math.round(value)} /s`;
export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
export const percentOfCore = (share: number): string => `${(share * 100).toFixed(1)} % of a core`;
