/** A file with a line, or an argument. */
export type SourceLocation = { readonly source: string; readonly line: number | null };

/** A key with its value. */
export type Pair = { readonly key: string; readonly value: string; readonly where: SourceLocation };

/** A problem or warning. No message contains a part of a value or of an invalid line. */
export type LocatedMessage = { readonly where: SourceLocation; readonly message: string };

/** The result of parsing one source, valid only if there are no problems. */
export type ParseResult = {
  readonly pairs: readonly Pair[];
  /** Keys without a value. */
  readonly skipped: readonly { readonly key: string; readonly where: SourceLocation }[];
  readonly problems: readonly LocatedMessage[];
  readonly warnings: readonly LocatedMessage[];
};

/** `.env:3`, `argument 2` */
export function formatLocation({ source, line }: SourceLocation): string {
  return line === null ? source : `${source}:${line}`;
}

/** Concatenates several results. */
export function mergeResults(readings: readonly ParseResult[]): ParseResult {
  return {
    pairs: readings.flatMap(({ pairs }) => pairs),
    skipped: readings.flatMap(({ skipped }) => skipped),
    problems: readings.flatMap(({ problems }) => problems),
    warnings: readings.flatMap(({ warnings }) => warnings),
  };
}
