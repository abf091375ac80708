import { findReservedSecretKeyProblem, secretSetKeyPattern, secretSetKeyRule } from '@bothost/contract';
import { useState } from 'react';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { DialogForm } from '../components/dialog-form.tsx';
import { identifierInput, TextField } from '../components/text-field.tsx';
import { useForm } from '../components/use-form.ts';
import { getOrganizationApi, useMembership } from '../organization/organization.ts';
import { describeRule } from './describe-rule.ts';
import { useRefreshSecrets } from './queries.ts';
import { findSetNameProblem, SetNameField } from './set-name-field.tsx';
import { ValueField } from './value-field.tsx';

type SetValueDialogProps = {
  /** The name of the set that is changed. Null creates a new set. */
  readonly setName: string | null;
  /** The key whose value is replaced. Null adds a key. */
  readonly secretKey: string | null;
  readonly onDone?: (setName: string) => void | Promise<void>;
  readonly onClose: () => void;
};

/** Creates a secret set with its first key, adds a key to a set, or replaces a value. */
export function SetValueDialog({ setName, secretKey, onDone, onClose }: SetValueDialogProps) {
  const { name: organization } = useMembership();
  const [name, setSetName] = useState(setName ?? '');
  const [key, setKey] = useState(secretKey ?? '');
  const [value, setValue] = useState('');
  const keyProblem = key === '' ? undefined : describeKey(key);
  const refresh = useRefreshSecrets(organization);
  const form = useForm(
    () =>
      getOrganizationApi(organization).putSecrets({
        params: { setName: name },
        body: {
          secrets: [{ secretKey: key, secretValue: value }],
          // Revision 0 means that the set must not exist yet, so an existing set is not overwritten.
          ...(setName === null ? { expectedRevision: 0 } : {}),
        },
      }),
    async ({ change }) => {
      await refresh(change === 'none' ? `${key} has this value already.` : `${key} is stored.`);
      await onDone?.(name);
      onClose();
    },
  );
  return (
    <DialogForm
      title={setName === null ? 'Create a secret set' : secretKey === null ? 'Add a key' : `Replace ${secretKey}`}
      lead="A bot gets each key as an environment variable. Agents that run use a change after their next deploy."
      form={form}
      submit="Store"
      sending="Storing…"
      isValid={findSetNameProblem(name) === undefined && keyProblem === undefined}
      command={botcliCommands.setSecret(organization, name || 'NAME', key || 'KEY')}
      onClose={onClose}
    >
      {setName === null && <SetNameField value={name} onValue={setSetName} />}
      {secretKey === null && (
        <TextField
          label="Key"
          name="secrets.0.secretKey"
          hint="The name of the environment variable."
          problem={keyProblem}
          placeholder="OPENAI_API_KEY"
          value={key}
          onValue={setKey}
          required
          {...identifierInput}
        />
      )}
      <ValueField value={value} onValue={setValue} />
    </DialogForm>
  );
}

/** Returns why a text is not a valid key in a secret set, or undefined if it is valid. */
function describeKey(key: string): string | undefined {
  if (!secretSetKeyPattern.test(key)) return describeRule(secretSetKeyRule);
  return findReservedSecretKeyProblem(key) ?? undefined;
}
