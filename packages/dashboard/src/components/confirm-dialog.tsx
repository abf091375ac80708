import { type ReactNode, useState } from 'react';
import { DialogForm } from './dialog-form.tsx';
import { identifierInput, TextField } from './text-field.tsx';
import { useForm } from './use-form.ts';

type ConfirmDialogProps = {
  readonly title: string;
  /** Text that says what the action will do. */
  readonly lead: ReactNode;
  /** Additional content between `lead` and the buttons. */
  readonly details?: ReactNode;
  readonly action: string;
  /** The text, such as a name, that the person must enter before the action can be confirmed. */
  readonly phrase?: string;
  readonly command?: string | undefined;
  readonly run: () => Promise<unknown>;
  readonly onDone: () => void | Promise<void>;
  readonly onClose: () => void;
};

/** Asks for confirmation of an action that cannot be undone. Stays open if the action fails. */
export function ConfirmDialog(props: ConfirmDialogProps) {
  const { title, lead, details, action, phrase = '', command, run, onDone, onClose } = props;
  const [entered, setEntered] = useState('');
  const form = useForm(run, async () => {
    await onDone();
    onClose();
  });
  return (
    <DialogForm
      title={title}
      lead={lead}
      form={form}
      submit={action}
      submitVariant="destructive"
      isValid={entered === phrase}
      command={command}
      onClose={onClose}
    >
      {details}
      {phrase !== '' && (
        <TextField label={`Enter ${phrase} to confirm`} value={entered} onValue={setEntered} {...identifierInput} />
      )}
    </DialogForm>
  );
}
