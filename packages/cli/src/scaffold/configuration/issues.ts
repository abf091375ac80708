import { type FieldName, fields } from './fields.ts';

/** Notes what is wrong with a key. */
export type AddIssue = (path: FieldName, message: string) => void;

/** One of a few words, or null; a wrong one is an issue. */
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
export function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

/** `--transport` for `transports`. */
export function option(path: FieldName): string {
  return `--${fields[path].option}`;
}
