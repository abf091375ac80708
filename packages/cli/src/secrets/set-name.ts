import { SecretSetName } from '@bothost/contract';
import { Failure } from '../failure.ts';

/** Refuses, before any request, what no set can be called. */
export function requireSetName(name: string): void {
  const [problem] = SecretSetName.safeParse(name).error?.issues ?? [];
  if (problem === undefined) return;
  throw new Failure('name-invalid', `This is not a name for a secret set: ${problem.message}.`);
}
