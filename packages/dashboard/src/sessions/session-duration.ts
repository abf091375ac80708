import type { SessionSummary } from '@bothost/contract';
import { formatDuration } from '../components/format.ts';

type SessionTimes = { readonly createdAt: string; readonly endedAt: string | null };

/**
 * Returns the duration of a session in milliseconds, or the time since its creation while the session is active. Never negative,
 * even if the clocks of server and browser differ.
 */
export function computeSessionDurationMs({ createdAt, endedAt }: SessionTimes, nowMs: number): number {
  return Math.max(0, (endedAt === null ? nowMs : Date.parse(endedAt)) - Date.parse(createdAt));
}

type BotStart = Pick<SessionSummary, 'botStartSeconds' | 'botStartMilliseconds' | 'coldStart'>;

/** Describes how long the bot took to start, and whether the start was cold or warm, such as `22 ms, warm`. */
export function formatBotStartDuration({ botStartSeconds, botStartMilliseconds, coldStart }: BotStart): string {
  if (botStartSeconds === null) return '—';
  const isShort = botStartMilliseconds !== null && botStartMilliseconds < 1_000;
  return `${formatDuration(isShort ? botStartMilliseconds : botStartSeconds * 1_000)}, ${coldStart === true ? 'cold' : 'warm'}`;
}
