import { useId } from 'react';

type ValueFieldProps = { readonly value: string; readonly onValue: (value: string) => void };

/** Input field for a secret value, which can have several lines, such as a private key. */
export function ValueField({ value, onValue }: ValueFieldProps) {
  const id = useId();
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="font-medium text-sm">
        Value
      </label>
      <textarea
        id={id}
        rows={3}
        required
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        aria-describedby={`${id}-hint`}
        className="rounded-lg border border-field bg-surface px-3 py-2 font-mono text-sm"
        value={value}
        onChange={(event) => onValue(event.target.value)}
      />
      <p id={`${id}-hint`} className="text-quiet text-sm">
        Stored encrypted and exactly as entered. It is not shown again.
      </p>
    </div>
  );
}
