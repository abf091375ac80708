import { ChevronDown } from 'lucide-react';
import type { ComponentProps } from 'react';
import { twMerge } from 'tailwind-merge';
import { Field, type FieldProps } from './field.tsx';

type SelectProps = Omit<ComponentProps<'select'>, 'onChange' | 'name'> & {
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly onValue: (value: string) => void;
};

/** A select field. Uses the browser's own `<select>`, which is also convenient on phones. */
export function Select({ options, onValue, className, ...props }: SelectProps) {
  return (
    <span className="relative inline-flex">
      <select
        className={twMerge(
          'min-h-10 w-full cursor-pointer appearance-none rounded-lg border border-field bg-surface py-2 pr-9 pl-3 text-sm disabled:cursor-default disabled:opacity-60',
          className,
        )}
        onChange={(event) => onValue(event.target.value)}
        {...props}
      >
        {options.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <ChevronDown
        aria-hidden="true"
        className="pointer-events-none absolute top-1/2 right-3 size-4 -translate-y-1/2 text-quiet"
      />
    </span>
  );
}

export function SelectField({ label, hint, problem, name, ...props }: SelectProps & FieldProps) {
  return (
    <Field label={label} hint={hint} problem={problem} name={name}>
      {(control) => <Select {...control} {...props} />}
    </Field>
  );
}
