import { reservedSecretKey, secretSetSize, secretValueProblems, utf8Bytes } from '@bothost/contract';
import { formatLocation, type LocatedMessage, type Pair, type SourceLocation } from './parse-result.ts';

/** What a shell could not use as a name of a variable. */
const shellName = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Names by which a bot's interpreter or loader would be changed. */
const loaders = /^(?:LD_|NODE_OPTIONS$|PYTHONHOME$|PYTHONSTARTUP$)/;

/** What is wrong with keys as such, with or without a value: names of the service, and names twice. */
export function keyProblems(
  keys: readonly { readonly key: string; readonly where: SourceLocation }[],
): readonly LocatedMessage[] {
  const first = new Map<string, SourceLocation>();
  return keys.flatMap(({ key, where }) => {
    const before = first.get(key);
    if (before === undefined) first.set(key, where);
    return [
      ...(reservedSecretKey(key) ? [{ where, message: `${key}: the service sets this variable itself` }] : []),
      ...(before === undefined
        ? []
        : [{ where, message: `${key} is named twice, first in ${formatLocation(before)}` }]),
    ];
  });
}

/** What is wrong with values, and with all of them together; the limits are those of the service. */
export function valueProblems(pairs: readonly Pair[]): readonly LocatedMessage[] {
  const each = pairs.flatMap(({ key, value, where }) =>
    secretValueProblems(value).map((message) => ({ where, message: `${key}: ${message}` })),
  );
  const bytes = pairs.reduce((sum, { key, value }) => sum + utf8Bytes(key) + utf8Bytes(value), 0);
  const [last] = pairs.slice(-1);
  if (last === undefined) return each;
  const { source } = last.where;
  const all = (message: string): LocatedMessage => ({ where: { source, line: null }, message });
  return [
    ...each,
    ...(pairs.length > secretSetSize.keys
      ? [all(`${pairs.length} keys; a set has at most ${secretSetSize.keys}`)]
      : []),
    ...(bytes > secretSetSize.bytes ? [all(`${bytes} bytes; a set has at most ${secretSetSize.bytes}`)] : []),
  ];
}

export function keyWarnings(
  keys: readonly { readonly key: string; readonly where: SourceLocation }[],
): readonly LocatedMessage[] {
  return keys.flatMap(({ key, where }) => [
    ...(shellName.test(key) ? [] : [{ where, message: `${key}: a shell cannot use this name` }]),
    ...(loaders.test(key) ? [{ where, message: `${key}: this variable changes how the bot itself is started` }] : []),
  ]);
}
