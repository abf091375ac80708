import { type FormEvent, useEffect, useEffectEvent, useState } from 'react';
import { identifierInput, TextField } from './text-field.tsx';

type FilterFieldProps = {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string | undefined;
  readonly onValue: (value: string | undefined) => void;
};

const typingPauseMs = 400;

/** A field of a list's filter. Applies its text after a pause in typing, on Enter, or when it loses the focus. */
export function FilterField({ label, placeholder, value = '', onValue }: FilterFieldProps) {
  const [entered, setEntered] = useState(value);
  const [applied, setApplied] = useState(value);
  // The filter was changed elsewhere, for example by Back.
  if (applied !== value) {
    setApplied(value);
    if (entered === applied) setEntered(value);
  }
  const apply = () => {
    if (entered !== value) onValue(entered || undefined);
  };
  const applyLatest = useEffectEvent(apply);
  useEffect(() => {
    if (entered === value) return;
    const timer = setTimeout(applyLatest, typingPauseMs);
    return () => clearTimeout(timer);
  }, [entered, value]);
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
