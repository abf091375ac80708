import { useEffect, useState } from 'react';
import { formatElapsedTime } from '../components/format.ts';

type ElapsedTimeProps = {
  /** Start and end in milliseconds since the Unix epoch. If `to` is undefined, the shown time keeps running. */
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
  return <span className="tabular-nums">{formatElapsedTime((to ?? now) - from)}</span>;
}
