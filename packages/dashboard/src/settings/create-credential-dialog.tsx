import { type ReactNode, useState } from 'react';
import { Alert } from '../components/alert.tsx';
import { Button } from '../components/button.tsx';
import { CopyableText } from '../components/copyable-text.tsx';
import { Dialog } from '../components/dialog.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { SelectField } from '../components/select-field.tsx';
import { TextField } from '../components/text-field.tsx';
import { useForm } from '../components/use-form.ts';
import { credentialLifetimeOptions } from './lifetimes.ts';

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
      <Dialog
        title={`Copy your ${kind}`}
        lead="Store it now, for example in a password manager. It is not shown again."
        onClose={onClose}
      >
        <CopyableText text={value} name={kind} />
        <div className="flex flex-col gap-2 text-quiet text-sm">{usage}</div>
        <Button onClick={onClose} className="self-end">
          Done
        </Button>
      </Dialog>
    );
  }
  return (
    <Dialog title={`Create a ${kind}`} lead={lead} onClose={onClose}>
      <form className="flex flex-col gap-5" onSubmit={form.onSubmit}>
        {form.problem !== null && <Alert>{form.problem}</Alert>}
        <TextField
          label="Name"
          hint="Where it is used, so that you recognize it later."
          placeholder={namePlaceholder}
          value={name}
          onValue={setName}
          autoComplete="off"
          maxLength={100}
          required
        />
        <SelectField label="Expiration" options={credentialLifetimeOptions} value={days} onValue={setDays} />
        <div className="flex justify-end gap-3">
          <Button variant="outline" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" disabled={form.isSending}>
            {form.isSending ? 'Creating…' : `Create ${kind}`}
          </Button>
        </div>
        {command !== undefined && <EquivalentShellCommand command={command(name || 'NAME', days)} />}
      </form>
    </Dialog>
  );
}
