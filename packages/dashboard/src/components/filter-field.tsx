import { type FormEvent, useState } from 'react';
import { identifierInput, TextField } from './text-field.tsx';

type FilterFieldProps = {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string | undefined;
  readonly onValue: (value: string | undefined) => void;
};

/** A field of a list's filter. Applies its text on Enter or when it loses the focus, because each change sends a request. */
export function FilterField({ label, placeholder, value = '', onValue }: FilterFieldProps) {
  const [entered, setEntered] = useState(value);
  const apply = () => {
    if (entered !== value) onValue(entered || undefined);
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    apply();
  };
  return (
    <form onSubmit={submit}>
      <TextField
        label={label}
        type="search"
        placeholder={placeholder}
        value={entered}
        onValue={setEntered}
        onBlur={apply}
        maxLength={1_000}
        {...identifierInput}
      />
    </form>
  );
}
