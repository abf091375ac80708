/** Where a key was given: a line of a file, or an argument of the command line, for which `line` is null. */
export type SourceLocation = { readonly source: string; readonly line: number | null };

export type KeyValuePair = { readonly key: string; readonly value: string; readonly where: SourceLocation };

/** A problem or warning. No message contains a part of a value or of an invalid line. */
export type LocatedMessage = { readonly where: SourceLocation; readonly message: string };

/** The result of parsing one source. The pairs may be used only if there are no problems. */
export type ParsedSecretsInput = {
  readonly pairs: readonly KeyValuePair[];
  readonly skipped: readonly { readonly key: string; readonly where: SourceLocation }[];
  readonly problems: readonly LocatedMessage[];
  readonly warnings: readonly LocatedMessage[];
};

/** Formats a location for messages, for example `.env:3` or `argument 2`. */
export function formatLocation({ source, line }: SourceLocation): string {
  return line === null ? source : `${source}:${line}`;
}

export function mergeParsedSecretsInputs(results: readonly ParsedSecretsInput[]): ParsedSecretsInput {
  return {
    pairs: results.flatMap(({ pairs }) => pairs),
    skipped: results.flatMap(({ skipped }) => skipped),
    problems: results.flatMap(({ problems }) => problems),
    warnings: results.flatMap(({ warnings }) => warnings),
  };
}
