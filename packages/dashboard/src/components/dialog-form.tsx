import type { ComponentProps, ReactNode } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { DialogShellCommand } from './equivalent-shell-command.tsx';
import { Form, FormProblem } from './form.tsx';
import type { FormState } from './use-form.ts';

type DialogFormProps = {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly form: FormState;
  readonly submit: string;
  /** The text of the submit button while the form is being sent. */
  readonly sending?: string;
  readonly submitVariant?: ComponentProps<typeof Button>['variant'];
  /** Whether the entered values can be sent. */
  readonly isValid?: boolean;
  readonly command?: string | undefined;
  readonly onClose: () => void;
  readonly children?: ReactNode;
};

/** A dialog with a form, its buttons, and the shell command with the same effect. */
export function DialogForm(props: DialogFormProps) {
  const {
    title,
    lead,
    form,
    submit,
    sending = submit,
    submitVariant,
    isValid = true,
    command,
    onClose,
    children,
  } = props;
  return (
    <Dialog title={title} lead={lead} onClose={onClose}>
      <Form form={form} className="flex flex-col gap-5">
        <FormProblem />
        {children}
        <div className="flex justify-end gap-3">
          <Button variant="outline" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" variant={submitVariant} disabled={form.isSending || !isValid}>
            {form.isSending ? sending : submit}
          </Button>
        </div>
        {command !== undefined && <DialogShellCommand command={command} />}
      </Form>
    </Dialog>
  );
}
