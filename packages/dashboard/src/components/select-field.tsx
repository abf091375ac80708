import { ChevronDown } from 'lucide-react';
import { type ComponentProps, useId } from 'react';
import { classNames } from './class-names.ts';

type SelectProps = Omit<ComponentProps<'select'>, 'onChange'> & {
  readonly options: readonly (readonly [value: string, label: string])[];
  readonly onValue: (value: string) => void;
};

/** A select field. Uses the browser's own `<select>`, which is also convenient on phones. */
export function Select({ options, onValue, className, ...props }: SelectProps) {
  return (
    <span className="relative inline-flex">
      <select
        className={classNames(
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

export function SelectField({
  label,
  hint,
  ...props
}: SelectProps & { readonly label: string; readonly hint?: string }) {
  const id = useId();
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="font-medium text-sm">
        {label}
      </label>
      <Select id={id} aria-describedby={hint === undefined ? undefined : `${id}-hint`} {...props} />
      {hint !== undefined && (
        <p id={`${id}-hint`} className="text-quiet text-sm">
          {hint}
        </p>
      )}
    </div>
  );
}
