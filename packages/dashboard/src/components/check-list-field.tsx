import { useId } from 'react';
import { useFieldIssue } from './form.tsx';

type CheckListFieldProps<Value extends string> = {
  readonly label: string;
  /** The path of the values in the request of the form. The field shows what the service says about them. */
  readonly name: string;
  readonly options: readonly (readonly [value: Value, description: string])[];
  readonly values: readonly Value[];
  readonly onValues: (values: readonly Value[]) => void;
};

/** A group of checkboxes that selects some of several values. */
export function CheckListField<Value extends string>(props: CheckListFieldProps<Value>) {
  const { label, name, options, values, onValues } = props;
  const id = useId();
  const issue = useFieldIssue(name);
  return (
    <fieldset className="flex flex-col gap-2" aria-describedby={issue === undefined ? undefined : `${id}-text`}>
      <legend className="mb-1.5 font-medium text-sm">{label}</legend>
      {options.map(([value, description]) => (
        <label key={value} className="flex items-start gap-2.5 text-sm">
          <input
            type="checkbox"
            checked={values.includes(value)}
            onChange={({ target }) =>
              onValues(target.checked ? [...values, value] : values.filter((other) => other !== value))
            }
            className="mt-0.5 size-4 shrink-0 accent-accent"
          />
          <span className="flex flex-col">
            <code className="font-mono">{value}</code>
            <span className="text-quiet">{description}</span>
          </span>
        </label>
      ))}
      {issue !== undefined && (
        <p id={`${id}-text`} role="alert" className="text-danger text-sm">
          {issue}
        </p>
      )}
    </fieldset>
  );
}
