import { useEffect, useState } from 'react';

/** Returns the current time in milliseconds since the Unix epoch. Updates it every second while `isRunning` is true. */
export function useNow(isRunning = true): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isRunning) return;
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, [isRunning]);
  return now;
}
