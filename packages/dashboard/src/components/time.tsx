import { formatDateTime, formatPreciseTimeOfDay, formatRelativeTime, formatTimeOfDay } from './format.ts';

/** Shows a time relative to now, or its date if it is more than a day ago. A tooltip shows the date and the time of day. */
export function RelativeTime({ at }: { readonly at: string }) {
  const date = new Date(at);
  return (
    <time dateTime={at} title={formatDateTime(date)} className="whitespace-nowrap">
      {formatRelativeTime(date, new Date())}
    </time>
  );
}

type TimeOfDayProps = {
  readonly at: Date;
  /** Whether to show milliseconds. */
  readonly isPrecise?: boolean;
};

/** Shows a time of day. A tooltip shows the date. */
export function TimeOfDay({ at, isPrecise = false }: TimeOfDayProps) {
  return (
    <time dateTime={at.toISOString()} title={formatDateTime(at)} className="tabular-nums">
      {isPrecise ? formatPreciseTimeOfDay(at) : formatTimeOfDay(at)}
    </time>
  );
}
