import type { ComponentProps } from 'react';
import { Field, type FieldProps } from './field.tsx';

type TextFieldProps = FieldProps &
  Omit<ComponentProps<'input'>, 'id' | 'onChange' | 'name'> & { readonly onValue: (value: string) => void };

/** Attributes of a field for a name or a key: browsers neither complete nor correct it. */
export const identifierInput = { autoComplete: 'off', autoCapitalize: 'none', spellCheck: false } as const;

export function TextField({ label, hint, problem, name, onValue, ...props }: TextFieldProps) {
  return (
    <Field label={label} hint={hint} problem={problem} name={name}>
      {(control) => (
        <input
          {...control}
          className="min-h-10 rounded-lg border border-field bg-surface px-3 py-1.5 text-sm read-only:bg-background read-only:text-quiet aria-invalid:border-danger"
          onChange={(event) => onValue(event.target.value)}
          {...props}
        />
      )}
    </Field>
  );
}
