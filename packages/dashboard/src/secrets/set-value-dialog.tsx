import {
  findReservedSecretKeyProblem,
  secretSetKeyPattern,
  secretSetKeyRule,
  secretSetNamePattern,
  secretSetNameRule,
} from '@bothost/contract';
import { useState } from 'react';
import { formatCloudCommand } from '../commands/shell-command.ts';
import { Alert } from '../components/alert.tsx';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { useNotice } from '../components/notice.tsx';
import { TextField } from '../components/text-field.tsx';
import { useForm } from '../components/use-form.ts';
import { getOrganizationApi, useMembership } from '../organization/organization.ts';
import { useRefreshSecrets } from './queries.ts';
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
  const nameProblem = name === '' || secretSetNamePattern.test(name) ? undefined : toSentence(secretSetNameRule);
  const keyProblem = key === '' ? undefined : describeKey(key);
  const refresh = useRefreshSecrets(organization);
  const notify = useNotice();
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
      notify(change === 'none' ? `${key} has this value already.` : `${key} is stored.`);
      await refresh();
      await onDone?.(name);
      onClose();
    },
  );
  return (
    <Dialog
      title={setName === null ? 'Create a secret set' : secretKey === null ? 'Add a key' : `Replace ${secretKey}`}
      lead="A bot gets each key as an environment variable. Agents that run use a change after their next deploy."
      onClose={onClose}
    >
      <form className="flex flex-col gap-5" onSubmit={form.onSubmit}>
        {form.problem !== null && <Alert>{form.problem}</Alert>}
        {setName === null && (
          <TextField
            label="Name of the set"
            hint="Letters, digits and hyphens. Agents refer to the set by this name."
            problem={nameProblem}
            placeholder="my-bot-secrets"
            value={name}
            onValue={setSetName}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            required
          />
        )}
        {secretKey === null && (
          <TextField
            label="Key"
            hint="The name of the environment variable."
            problem={keyProblem}
            placeholder="OPENAI_API_KEY"
            value={key}
            onValue={setKey}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            required
          />
        )}
        <ValueField value={value} onValue={setValue} />
        <div className="flex justify-end gap-3">
          <Button variant="outline" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" disabled={form.isSending || nameProblem !== undefined || keyProblem !== undefined}>
            {form.isSending ? 'Storing…' : 'Store'}
          </Button>
        </div>
        <EquivalentShellCommand
          command={formatCloudCommand(organization, 'secrets', 'set', name || 'NAME', key || 'KEY')}
        />
      </form>
    </Dialog>
  );
}

/** Returns why a text is not a valid key in a secret set, or undefined if it is valid. */
function describeKey(key: string): string | undefined {
  if (!secretSetKeyPattern.test(key)) return toSentence(secretSetKeyRule);
  return findReservedSecretKeyProblem(key) ?? undefined;
}

function toSentence(rule: string): string {
  return `${rule.charAt(0).toUpperCase()}${rule.slice(1)}.`;
}
