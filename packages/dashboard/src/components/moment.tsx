import { formatRelativeTime } from './relative-time.ts';

const full = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });

/** Shows a time relative to now, such as `3 days ago`. A tooltip shows the date and the time of day. */
export function RelativeTime({ at }: { readonly at: string }) {
  const date = new Date(at);
  return (
    <time dateTime={at} title={full.format(date)} className="whitespace-nowrap">
      {formatRelativeTime(date, new Date())}
    </time>
  );
}
