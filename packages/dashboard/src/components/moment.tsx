import { relativeTime } from './relative-time.ts';

const full = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });

/** A time relative to now; the tooltip shows date and time. */
export function Moment({ at }: { readonly at: string }) {
  const date = new Date(at);
  return (
    <time dateTime={at} title={full.format(date)} className="whitespace-nowrap">
      {relativeTime(date, new Date())}
    </time>
  );
}
