import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from 'react';
import { describeError, type FieldIssue, listFieldIssues } from '../api.ts';
import { Alert } from './alert.tsx';
import type { FormState } from './use-form.ts';

type FormContent = {
  /** The error of the last attempt. */
  readonly error: Error | null;
  readonly issues: readonly FieldIssue[];
  /** The names of the form's fields. */
  readonly fields: readonly string[];
  /** Adds a field to the form. Returns a function that removes it. */
  readonly addField: (name: string) => () => void;
};
const FormContext = createContext<FormContent>({ error: null, issues: [], fields: [], addField: () => () => {} });

type FormProps = { readonly form: FormState; readonly className?: string; readonly children: ReactNode };

/** A form whose fields show what the service says about them. A `FormProblem` in it shows all other errors. */
export function Form({ form: { error, onSubmit }, className, children }: FormProps) {
  const [fields, setFields] = useState<readonly string[]>([]);
  const addField = useCallback((name: string) => {
    setFields((others) => [...others, name]);
    return () => setFields((all) => all.filter((other) => other !== name));
  }, []);
  return (
    <form onSubmit={onSubmit} className={className}>
      <FormContext value={{ error, issues: listFieldIssues(error), fields, addField }}>{children}</FormContext>
    </form>
  );
}

/** Shows the error of the form's last attempt, unless the fields of the form show all of it. */
export function FormProblem() {
  const { error, issues, fields } = useContext(FormContext);
  if (error === null || (issues.length > 0 && issues.every(({ field }) => fields.includes(field)))) return null;
  return <Alert>{describeError(error)}</Alert>;
}

/** Returns what the service said about a field of the form, or undefined. `name` is the field's path in the request. */
export function useFieldIssue(name: string | undefined): string | undefined {
  const { issues, addField } = useContext(FormContext);
  useEffect(() => (name === undefined ? undefined : addField(name)), [name, addField]);
  return issues.find(({ field }) => field === name)?.message;
}
