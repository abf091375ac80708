import { Label } from 'radix-ui';
import { type ComponentProps, useId } from 'react';

type TextFieldProps = Omit<ComponentProps<'input'>, 'id' | 'onChange'> & {
  readonly label: string;
  readonly hint?: string;
  /** The validation message for the entered value. Undefined if the value is valid. */
  readonly problem?: string | undefined;
  readonly onValue: (value: string) => void;
};

export function TextField({ label, hint, problem, onValue, ...props }: TextFieldProps) {
  const id = useId();
  const text = problem ?? hint;
  return (
    <div className="flex flex-col gap-1.5">
      <Label.Root htmlFor={id} className="font-medium text-sm">
        {label}
      </Label.Root>
      <input
        id={id}
        className="min-h-10 rounded-lg border border-field bg-surface px-3 py-2 text-base read-only:bg-background read-only:text-quiet aria-invalid:border-danger"
        aria-invalid={problem !== undefined}
        aria-describedby={text === undefined ? undefined : `${id}-text`}
        onChange={(event) => onValue(event.target.value)}
        {...props}
      />
      {text !== undefined && (
        <p id={`${id}-text`} className={problem === undefined ? 'text-quiet text-sm' : 'text-danger text-sm'}>
          {text}
        </p>
      )}
    </div>
  );
}
