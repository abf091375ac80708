import { secretSetNamePattern, secretSetNameRule } from '@bothost/contract';
import { identifierInput, TextField } from '../components/text-field.tsx';
import { describeRule } from './describe-rule.ts';

type SetNameFieldProps = { readonly value: string; readonly onValue: (value: string) => void };

/** Field for the name of a new secret set. */
export function SetNameField({ value, onValue }: SetNameFieldProps) {
  return (
    <TextField
      label="Name of the set"
      name="setName"
      hint="Letters, digits and hyphens. Agents refer to the set by this name."
      problem={findSetNameProblem(value)}
      placeholder="my-bot-secrets"
      value={value}
      onValue={onValue}
      required
      {...identifierInput}
    />
  );
}

/** Returns why a secret set cannot have an entered name. Undefined for a valid name, or none yet. */
export function findSetNameProblem(name: string): string | undefined {
  return name === '' || secretSetNamePattern.test(name) ? undefined : describeRule(secretSetNameRule);
}
