import { type ReactNode, useId } from 'react';
import { useFieldIssue } from './form.tsx';

export type FieldProps = {
  readonly label: string;
  readonly hint?: string | undefined;
  /** Why the entered value is not valid, as far as the page can tell. */
  readonly problem?: string | undefined;
  /** The path of the value in the request of the form, such as `autoScaling.minAgents`. The field shows what the service says about it. */
  readonly name?: string | undefined;
};

type ControlProps = {
  readonly id: string;
  readonly 'aria-invalid': boolean;
  readonly 'aria-describedby': string | undefined;
};

/** The label of a control, and below the control a hint or what is wrong with its value. */
export function Field({
  label,
  hint,
  problem,
  name,
  children,
}: FieldProps & { readonly children: (control: ControlProps) => ReactNode }) {
  const id = useId();
  const issue = useFieldIssue(name);
  const fault = problem ?? issue;
  const text = fault ?? hint;
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="font-medium text-sm">
        {label}
      </label>
      {children({
        id,
        'aria-invalid': fault !== undefined,
        'aria-describedby': text === undefined ? undefined : `${id}-text`,
      })}
      {text !== undefined && (
        <p
          id={`${id}-text`}
          role={issue === undefined ? undefined : 'alert'}
          className={fault === undefined ? 'text-quiet text-sm' : 'text-danger text-sm'}
        >
          {text}
        </p>
      )}
    </div>
  );
}
