const pad = (value: number) => String(value).padStart(2, '0');

/** Formats a time in milliseconds since the start of a session, such as `0:41.2` or `1:02:05.1`. */
export function formatOffset(offsetMs: number): string {
  const tenths = Math.max(0, Math.floor(offsetMs / 100));
  const minutes = Math.floor(tenths / 600);
  const seconds = `${pad(Math.floor((tenths % 600) / 10))}.${tenths % 10}`;
  return minutes < 60 ? `${minutes}:${seconds}` : `${Math.floor(minutes / 60)}:${pad(minutes % 60)}:${seconds}`;
}

/** Formats a response time or a part of it in milliseconds, such as `340 ms` or `1.24 s`. */
export function formatResponseTime(durationMs: number): string {
  return durationMs < 1_000 ? `${Math.round(durationMs)} ms` : `${(durationMs / 1_000).toFixed(2)} s`;
}
