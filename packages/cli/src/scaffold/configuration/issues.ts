import { type FieldName, projectFields } from './fields.ts';

export type IssueReporter = (path: FieldName, message: string) => void;

/** Returns `value` if it is one of `words`, otherwise null. Adds an issue unless the value is valid or undefined. */
export function parseEnumeratedOption<const Word extends string>(
  words: readonly Word[],
  value: string | undefined,
  path: FieldName,
  addIssue: IssueReporter,
): Word | null {
  if (value === undefined) return null;
  const word = words.find((candidate) => candidate === value);
  if (word === undefined) addIssue(path, `must be ${joinWords(words)}, not ${JSON.stringify(value)}`);
  return word ?? null;
}

/** Joins words to text such as `a, b or c`. */
export function joinWords(words: readonly string[], conjunction: 'or' | 'and' = 'or'): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${conjunction} ${words.at(-1)}`;
}

/** Formats the option of a configuration key, for example `--transport` for `transports`. */
export function formatOptionName(path: FieldName): string {
  return `--${projectFields[path].option}`;
}
