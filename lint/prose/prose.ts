/** What a source file says to people. */
export type Prose = {
  /** Whole comments: consecutive line comments are one. */
  readonly comments: readonly string[];
  /** Of errors and logs: arguments of constructors, factories and log calls, and the fields of error tables. Not of test files. */
  readonly messages: readonly string[];
  /** Titles with those of the enclosing `describe` blocks, as in `describe > it`. */
  readonly testNames: readonly string[];
  /** Names of exports. Of Python: public top-level classes and functions. */
  readonly identifiers: readonly string[];
};

export function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
