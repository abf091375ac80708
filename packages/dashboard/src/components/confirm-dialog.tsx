import { type ReactNode, useState } from 'react';
import { Alert } from './alert.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { EquivalentShellCommand } from './equivalent-shell-command.tsx';
import { TextField } from './text-field.tsx';
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
export function ConfirmDialog({
  title,
  lead,
  details,
  action,
  phrase,
  command,
  run,
  onDone,
  onClose,
}: ConfirmDialogProps) {
  const [entered, setEntered] = useState('');
  const form = useForm(run, async () => {
    await onDone();
    onClose();
  });
  return (
    <Dialog title={title} lead={lead} onClose={onClose}>
      <form onSubmit={form.onSubmit} className="flex flex-col gap-5">
        {form.problem !== null && <Alert>{form.problem}</Alert>}
        {details}
        {phrase !== undefined && (
          <TextField
            label={`Enter ${phrase} to confirm`}
            value={entered}
            onValue={setEntered}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
          />
        )}
        <div className="flex justify-end gap-3">
          <Button variant="outline" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" variant="destructive" disabled={form.isSending || entered !== (phrase ?? '')}>
            {action}
          </Button>
        </div>
        {command !== undefined && <EquivalentShellCommand command={command} />}
      </form>
    </Dialog>
  );
}
