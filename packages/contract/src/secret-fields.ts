import { z } from 'zod';
import {
  findReservedSecretKeyProblem,
  hasValidSecretValueCharacters,
  maxSecretValueBytes,
  secretSetKeyPattern,
  secretSetKeyRule,
  secretSetNamePattern,
  secretSetNameRule,
} from './limits.ts';

/** Returns the size of a text in UTF-8, the unit of the limits of secrets. */
export function countUtf8Bytes(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}

/** The name of a secret set. Names that differ only in case mean the same set. */
export const SecretSetName = z.string().regex(secretSetNamePattern, secretSetNameRule);

/** The key of a secret. It becomes the name of an environment variable of the bot. */
export const SecretSetKey = z
  .string()
  .regex(secretSetKeyPattern, secretSetKeyRule)
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
