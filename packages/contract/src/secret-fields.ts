import { z } from 'zod';
import {
  canBeInSecretValue,
  reservedKeyProblem,
  secretKeyPattern,
  secretSetNamePattern,
  secretValueBytes,
} from './limits.ts';

/** The bytes that a text is in an environment: UTF-8. */
export function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}

/**
 * What a secret set may be called; upper case is taken, and the same name in other case is the same set.
 * One schema for the service, the command line and files (decisions, "Secrets").
 */
export const SecretSetName = z
  .string()
  .regex(secretSetNamePattern, 'use 1 to 63 letters, digits and hyphens, and begin and end with a letter or digit');

/** A key, which becomes the name of a bot's variable. */
export const SecretKey = z
  .string()
  .regex(secretKeyPattern, 'use 1 to 64 letters, digits, underscores and hyphens')
  .superRefine((key, check) => {
    const message = reservedKeyProblem(key);
    if (message !== null) check.addIssue({ code: 'custom', message });
  });

/** A value, taken byte by byte as it is. No message of it ever holds any part of the value. */
export const SecretValue = z.string().superRefine((value, check) => {
  for (const message of secretValueProblems(value)) check.addIssue({ code: 'custom', message });
});

/** Why a text cannot be a secret's value; none when it can. */
export function secretValueProblems(value: string): string[] {
  const bytes = utf8Bytes(value);
  return [
    ...(value === '' ? ['an empty value: remove the key instead'] : []),
    ...(canBeInSecretValue(value)
      ? []
      : ['contains a NUL character or half of a surrogate pair, which a variable cannot']),
    ...(bytes > secretValueBytes ? [`${bytes} bytes; a value has at most ${secretValueBytes}`] : []),
  ];
}
