import { SecretSetName } from '@bothost/contract';
import { Failure } from '../failure.ts';

export function requireSecretSetName(name: string): void {
  const [problem] = SecretSetName.safeParse(name).error?.issues ?? [];
  if (problem === undefined) return;
  throw new Failure('name-invalid', `Invalid name of a secret set: ${problem.message}.`);
}
