/** Where something was written: a file with a line, or an argument. */
export type SourceLocation = { readonly source: string; readonly line: number | null };

/** One key with its value, as it was written. */
export type Pair = { readonly key: string; readonly value: string; readonly where: SourceLocation };

/** Something about a place. No message ever holds a part of a value, nor of a line that could not be read. */
export type LocatedMessage = { readonly where: SourceLocation; readonly message: string };

/** What was read of one source: usable only when there is no problem. */
export type ParseResult = {
  readonly pairs: readonly Pair[];
  /** Keys without a value, which are left out. */
  readonly skipped: readonly { readonly key: string; readonly where: SourceLocation }[];
  readonly problems: readonly LocatedMessage[];
  readonly warnings: readonly LocatedMessage[];
};

/** `.env:3`, `argument 2` */
export function formatLocation({ source, line }: SourceLocation): string {
  return line === null ? source : `${source}:${line}`;
}

/** Several readings as one, in their order. */
export function mergeResults(readings: readonly ParseResult[]): ParseResult {
  return {
    pairs: readings.flatMap(({ pairs }) => pairs),
    skipped: readings.flatMap(({ skipped }) => skipped),
    problems: readings.flatMap(({ problems }) => problems),
    warnings: readings.flatMap(({ warnings }) => warnings),
  };
}
