import { z } from 'zod';
import {
  findReservedSecretKeyProblem,
  hasValidSecretValueCharacters,
  maxSecretValueBytes,
  secretSetKeyPattern,
  secretSetNamePattern,
} from './limits.ts';

export function countUtf8Bytes(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}

/** The name of a secret set. Names that differ only in case mean the same set. */
export const SecretSetName = z
  .string()
  .regex(secretSetNamePattern, 'use 1 to 63 letters, digits and hyphens, and begin and end with a letter or digit');

/** The key of a secret. It becomes the name of an environment variable of the bot. */
export const SecretSetKey = z
  .string()
  .regex(secretSetKeyPattern, 'use 1 to 64 letters, digits, underscores and hyphens')
  .superRefine((key, check) => {
    const message = findReservedSecretKeyProblem(key);
    if (message !== null) check.addIssue({ code: 'custom', message });
  });

/** The value of a secret, which is stored unchanged. No error message contains any part of it. */
export const SecretValue = z.string().superRefine((value, check) => {
  for (const message of findSecretValueProblems(value)) check.addIssue({ code: 'custom', message });
});

/** Returns the problems that prevent a string from being a secret value. The list is empty for a valid value. */
export function findSecretValueProblems(value: string): string[] {
  const bytes = countUtf8Bytes(value);
  return [
    ...(value === '' ? ['is empty; remove the key instead'] : []),
    ...(hasValidSecretValueCharacters(value)
      ? []
      : ['contains a NUL character or half of a surrogate pair, which an environment variable cannot contain']),
    ...(bytes > maxSecretValueBytes ? [`has ${bytes} bytes; the maximum is ${maxSecretValueBytes}`] : []),
  ];
}
