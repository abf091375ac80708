import {
  countUtf8Bytes,
  findReservedSecretKeyProblem,
  findSecretValueProblems,
  secretSetLimits,
} from '@bothost/contract';
import {
  formatLocation,
  type KeyValuePair,
  type LocatedMessage,
  type SourceLocation,
} from '@bothost/contract/parsed-secrets-input';

const shellVariable = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Matches environment variables that change how the dynamic loader or the interpreter runs a bot. */
const loaderVariable = /^(?:LD_|NODE_OPTIONS$|PYTHONHOME$|PYTHONSTARTUP$)/;

export function findKeyProblems(
  keys: readonly { readonly key: string; readonly where: SourceLocation }[],
): readonly LocatedMessage[] {
  const first = new Map<string, SourceLocation>();
  return keys.flatMap(({ key, where }) => {
    const before = first.get(key);
    if (before === undefined) first.set(key, where);
    const reserved = findReservedSecretKeyProblem(key);
    return [
      ...(reserved === null ? [] : [{ where, message: reserved }]),
      ...(before === undefined ? [] : [{ where, message: `${key} is a duplicate of ${formatLocation(before)}` }]),
    ];
  });
}

export function findValueProblems(pairs: readonly KeyValuePair[]): readonly LocatedMessage[] {
  const each = pairs.flatMap(({ key, value, where }) =>
    findSecretValueProblems(value).map((message) => ({ where, message: `${key}: ${message}` })),
  );
  const bytes = pairs.reduce((sum, { key, value }) => sum + countUtf8Bytes(key) + countUtf8Bytes(value), 0);
  const [last] = pairs.slice(-1);
  if (last === undefined) return each;
  const { source } = last.where;
  const all = (message: string): LocatedMessage => ({ where: { source, line: null }, message });
  return [
    ...each,
    ...(pairs.length > secretSetLimits.keys
      ? [all(`${pairs.length} keys; a set has at most ${secretSetLimits.keys}`)]
      : []),
    ...(bytes > secretSetLimits.bytes ? [all(`${bytes} bytes; a set has at most ${secretSetLimits.bytes}`)] : []),
  ];
}

export function findKeyWarnings(
  keys: readonly { readonly key: string; readonly where: SourceLocation }[],
): readonly LocatedMessage[] {
  return keys.flatMap(({ key, where }) => [
    ...(shellVariable.test(key) ? [] : [{ where, message: `${key} is not a valid name for a shell variable` }]),
    ...(loaderVariable.test(key)
      ? [{ where, message: `${key} is a variable that affects how the bot is started` }]
      : []),
  ]);
}
