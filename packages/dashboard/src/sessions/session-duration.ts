import type { SessionSummary } from '@bothost/contract';

type SessionTimes = { readonly createdAt: string; readonly endedAt: string | null };

/**
 * Returns the duration of a session in milliseconds, or the time since its creation while the session is active. Never negative,
 * even if the clocks of server and browser differ.
 */
export function computeSessionDurationMs({ createdAt, endedAt }: SessionTimes, nowMs: number): number {
  return Math.max(0, (endedAt === null ? nowMs : Date.parse(endedAt)) - Date.parse(createdAt));
}

/** Formats a duration in milliseconds, such as `412 ms`, `9 s`, `4 min 5 s` or `2 h 10 min`. */
export function formatLongDuration(durationMs: number): string {
  const seconds = Math.floor(durationMs / 1000);
  if (seconds < 1) return `${Math.round(durationMs)} ms`;
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`;
}

/** Formats a duration of a start, such as `412 ms` or `9.9 s`. */
export function formatPreciseDuration(durationMs: number): string {
  return durationMs < 1_000 ? `${Math.round(durationMs)} ms` : `${(durationMs / 1_000).toFixed(1)} s`;
}

type BotStart = Pick<SessionSummary, 'botStartSeconds' | 'botStartMilliseconds' | 'coldStart'>;

/** Describes how long the bot took to start, and whether the start was cold or warm, such as `22 ms, warm`. */
export function formatBotStartDuration({ botStartSeconds, botStartMilliseconds, coldStart }: BotStart): string {
  if (botStartSeconds === null) return '—';
  const isShort = botStartMilliseconds !== null && botStartMilliseconds < 1_000;
  return `${formatLongDuration(isShort ? botStartMilliseconds : botStartSeconds * 1_000)}, ${coldStart === true ? 'cold' : 'warm'}`;
}
