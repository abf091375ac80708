import { useState } from 'react';
import { computePeriodStartSeconds, periodOptions } from '../components/period.ts';
import { SelectField } from '../components/select-field.tsx';
import { TextField } from '../components/text-field.tsx';
import { formatLocalTime, parseLocalTime } from './local-time.ts';
import type { SessionFilter } from './session-filter.ts';

type TimeFilterProps = {
  readonly filter: SessionFilter;
  readonly onChange: (change: SessionFilter) => void;
};

/** The value of the option for a period with a beginning and an end. */
const range = 'range';

/** Fields that choose a period: one that ends now, or one with a beginning and an end. */
export function TimeFilter({ filter: { since, from, to }, onChange }: TimeFilterProps) {
  const hasRange = from !== undefined || to !== undefined;
  const choose = (period: string) => {
    if (period !== range) return onChange({ since: period || undefined, from: undefined, to: undefined });
    const nowMs = Date.now();
    const start = computePeriodStartSeconds(since ?? '24h', nowMs) ?? nowMs / 1_000;
    onChange({ since: undefined, from: roundToMinute(start), to: roundToMinute(nowMs / 1_000) + 60 });
  };
  return (
    <>
      <SelectField
        label="Time"
        options={[...periodOptions, [range, 'From … to …']]}
        value={hasRange ? range : (since ?? '')}
        onValue={choose}
      />
      {hasRange && (
        <>
          <LocalTimeField label="From" value={from} onValue={(seconds) => onChange({ from: seconds })} />
          <LocalTimeField label="To" value={to} onValue={(seconds) => onChange({ to: seconds })} />
        </>
      )}
    </>
  );
}

const roundToMinute = (seconds: number) => Math.floor(seconds / 60) * 60;

type LocalTimeFieldProps = {
  readonly label: string;
  readonly value: number | undefined;
  readonly onValue: (seconds: number | undefined) => void;
};

function LocalTimeField({ label, value, onValue }: LocalTimeFieldProps) {
  const text = value === undefined ? '' : formatLocalTime(value);
  const [entered, setEntered] = useState(text);
  const [applied, setApplied] = useState(text);
  // The filter was changed elsewhere, for example by Back.
  if (applied !== text) {
    setApplied(text);
    setEntered(text);
  }
  return (
    <div className="col-span-2">
      <TextField
        label={label}
        type="datetime-local"
        value={entered}
        onValue={(changed) => {
          setEntered(changed);
          const seconds = parseLocalTime(changed);
          if (seconds !== undefined) onValue(seconds);
        }}
        // The value is empty while one of its parts is, so an empty field removes its end of the period only when it is left.
        onBlur={() => entered === '' && value !== undefined && onValue(undefined)}
      />
    </div>
  );
}
