import { type FieldName, fields } from './fields.ts';

/** Adds a problem with the value of a key. */
export type AddIssue = (path: FieldName, message: string) => void;

/** Narrows a text to one of a few words. Returns null if it is absent or, after adding an issue, if it is another word. */
export function oneOf<const Word extends string>(
  words: readonly Word[],
  value: string | undefined,
  path: FieldName,
  addIssue: AddIssue,
): Word | null {
  if (value === undefined) return null;
  const word = words.find((candidate) => candidate === value);
  if (word === undefined) addIssue(path, `takes ${listed(words)}, not ${JSON.stringify(value)}`);
  return word ?? null;
}

/** `a, b or c` */
export function listed(words: readonly string[], conjunction: 'or' | 'and' = 'or'): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${conjunction} ${words.at(-1)}`;
}

/** `--transport` for `transports`. */
export function option(path: FieldName): string {
  return `--${fields[path].option}`;
}
