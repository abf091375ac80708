import { useEffect, useState } from 'react';
import { formatDuration } from '../components/duration.ts';

type ElapsedTimeProps = {
  /** Times in milliseconds since the Unix epoch. Without an end, the time runs. */
  readonly from: number;
  readonly to: number | undefined;
};

export function ElapsedTime({ from, to }: ElapsedTimeProps) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (to !== undefined) return;
    const timer = setInterval(() => setNow(Date.now()), 250);
    return () => clearInterval(timer);
  }, [to]);
  return <span className="tabular-nums">{formatDuration((to ?? now) - from)}</span>;
}
