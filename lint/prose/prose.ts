/** The text in a source file that is written for people. */
export type SourceFileProse = {
  /** Whole comments. Consecutive line comments count as one. */
  readonly comments: readonly string[];
  /**
   * Messages of errors and logs: strings in the arguments of error constructors, error factories and log calls, and in the
   * properties `message`, `error` and `hint` of object literals. Empty for a TypeScript test file.
   */
  readonly messages: readonly string[];
  /** Test titles with the titles of the enclosing `describe` blocks, as in `describe > it`. */
  readonly testNames: readonly string[];
  /** Exported names; in Python, names of public top-level classes, functions and constants. */
  readonly identifiers: readonly string[];
};

export function collapseWhitespace(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Returns false for text such as `${file}: ${text}` or `%s: %s`, which contains no words of its own. */
export function hasWords(text: string): boolean {
  return /[a-z]{2}/i.test(text.replace(/\$?\{[^{}]*\}/g, ''));
}
