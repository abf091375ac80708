import { Field } from '../components/field.tsx';

type ValueFieldProps = { readonly value: string; readonly onValue: (value: string) => void };

/** Input field for a secret value, which can have several lines, such as a private key. */
export function ValueField({ value, onValue }: ValueFieldProps) {
  return (
    <Field
      label="Value"
      name="secrets.0.secretValue"
      hint="Stored encrypted and exactly as entered. It is not shown again."
    >
      {(control) => (
        <textarea
          {...control}
          rows={3}
          required
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
          className="rounded-lg border border-field bg-surface px-3 py-2 font-mono text-sm aria-invalid:border-danger"
          value={value}
          onChange={(event) => onValue(event.target.value)}
        />
      )}
    </Field>
  );
}
