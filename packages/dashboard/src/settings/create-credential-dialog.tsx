import { type ReactNode, useState } from 'react';
import { DialogForm } from '../components/dialog-form.tsx';
import { SelectField } from '../components/select-field.tsx';
import { TextField } from '../components/text-field.tsx';
import { useForm } from '../components/use-form.ts';
import { credentialLifetimeOptions } from './lifetimes.ts';
import { OneTimeValueDialog } from './one-time-value-dialog.tsx';

type CreateCredentialDialogProps = {
  /** What the dialog creates, for example `private key`. */
  readonly kind: string;
  readonly lead: ReactNode;
  readonly namePlaceholder: string;
  readonly defaultDays: string;
  /** Creates the key or token and returns its secret value. `days` is empty for a key or token that does not expire. */
  readonly create: (name: string, days: string) => Promise<string>;
  readonly command?: (name: string, days: string) => string;
  /** Explains how to use the created value. */
  readonly usage: ReactNode;
  readonly onClose: () => void;
};

/** Creates a key or a personal token, then shows its value, which is never shown again. */
export function CreateCredentialDialog(props: CreateCredentialDialogProps) {
  const { kind, lead, namePlaceholder, defaultDays, create, command, usage, onClose } = props;
  const [name, setName] = useState('');
  const [days, setDays] = useState(defaultDays);
  const [value, setValue] = useState<string | null>(null);
  const form = useForm(() => create(name, days), setValue);
  if (value !== null) {
    return (
      <OneTimeValueDialog
        title={`Copy your ${kind}`}
        lead="Store it now, for example in a password manager. It is not shown again."
        value={value}
        name={kind}
        onClose={onClose}
      >
        <div className="flex flex-col gap-2 text-quiet text-sm">{usage}</div>
      </OneTimeValueDialog>
    );
  }
  return (
    <DialogForm
      title={`Create a ${kind}`}
      lead={lead}
      form={form}
      submit={`Create ${kind}`}
      sending="Creating…"
      command={command?.(name || 'NAME', days)}
      onClose={onClose}
    >
      <TextField
        label="Name"
        name="name"
        hint="Where it is used, so that you recognize it later."
        placeholder={namePlaceholder}
        value={name}
        onValue={setName}
        autoComplete="off"
        maxLength={100}
        required
      />
      <SelectField
        label="Expiration"
        name="expiresInSeconds"
        options={credentialLifetimeOptions}
        value={days}
        onValue={setDays}
      />
    </DialogForm>
  );
}
