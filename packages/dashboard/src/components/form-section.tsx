import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { EquivalentShellCommand } from './equivalent-shell-command.tsx';
import { Form, FormProblem } from './form.tsx';
import type { HelpTopic } from './help-topics.ts';
import { Section } from './section.tsx';
import type { FormState } from './use-form.ts';

type FormFooterProps = {
  readonly submit: string;
  readonly isDisabled: boolean;
  readonly command?: string | undefined;
};

/** The submit button of a form in a section, and the shell command with the same effect. */
export function FormFooter({ submit, isDisabled, command }: FormFooterProps) {
  return (
    <div className="flex justify-end border-line border-t bg-background/60 px-5 py-3 max-sm:justify-start sm:px-6">
      <Button type="submit" disabled={isDisabled}>
        {submit}
      </Button>
      {command !== undefined && <EquivalentShellCommand command={command} />}
    </div>
  );
}

type FormSectionProps = {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly help?: HelpTopic;
  readonly form: FormState;
  readonly submit: string;
  /** Whether the form has changes to send. */
  readonly isChanged: boolean;
  readonly command?: string | undefined;
  readonly children: ReactNode;
};

export function FormSection({ title, lead, help, form, submit, isChanged, command, children }: FormSectionProps) {
  return (
    <Section title={title} lead={lead} help={help}>
      <Form form={form}>
        <div className="flex max-w-md flex-col gap-4 px-5 py-5 sm:px-6">
          <FormProblem />
          {children}
        </div>
        <FormFooter
          submit={form.isSending ? 'Saving…' : submit}
          isDisabled={!isChanged || form.isSending}
          command={command}
        />
      </Form>
    </Section>
  );
}
