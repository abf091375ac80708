import { z } from 'zod';
import {
  canBeInSecretValue,
  maxSecretValueBytes,
  reservedKeyProblem,
  secretKeyPattern,
  secretSetNamePattern,
} from './limits.ts';

export function countUtf8Bytes(text: string): number {
  return new TextEncoder().encode(text).byteLength;
}

/** The name of a secret set is case-insensitive. */
export const SecretSetName = z
  .string()
  .regex(secretSetNamePattern, 'use 1 to 63 letters, digits and hyphens, and begin and end with a letter or digit');

/** The key becomes the name of an environment variable. */
export const SecretKey = z
  .string()
  .regex(secretKeyPattern, 'use 1 to 64 letters, digits, underscores and hyphens')
  .superRefine((key, check) => {
    const message = reservedKeyProblem(key);
    if (message !== null) check.addIssue({ code: 'custom', message });
  });

/** The value is stored unchanged. No error message contains a part of it. */
export const SecretValue = z.string().superRefine((value, check) => {
  for (const message of secretValueProblems(value)) check.addIssue({ code: 'custom', message });
});

/** Returns the reasons why a string cannot be a secret value. */
export function secretValueProblems(value: string): string[] {
  const bytes = countUtf8Bytes(value);
  return [
    ...(value === '' ? ['is empty; remove the key instead'] : []),
    ...(canBeInSecretValue(value)
      ? []
      : ['contains a NUL character or half of a surrogate pair, which an environment variable cannot contain']),
    ...(bytes > maxSecretValueBytes ? [`has ${bytes} bytes; the maximum is ${maxSecretValueBytes}`] : []),
  ];
}
