import { type ConversationLineOf, type ConversationSide, peakStepMs } from '@bothost/contract';
import type { Span } from './spans.ts';

/** The highest amplitude of each `peakStepMs` since the start of the session, from 0 to 255, of both sides. */
export type Waveform = Readonly<Record<ConversationSide, Uint8Array>>;

/** Joins the peaks of a recording. Returns null if there are none. */
export function createWaveform(lines: readonly ConversationLineOf<'peaks'>[]): Waveform | null {
  if (lines.length === 0) return null;
  const parts = lines.map(({ from, user, bot }) => ({
    first: Math.round(from / peakStepMs),
    user: decodeBytes(user),
    bot: decodeBytes(bot),
  }));
  const steps = parts.reduce(
    (last, { first, user, bot }) => Math.max(last, first + user.length, first + bot.length),
    0,
  );
  const waveform = { user: new Uint8Array(steps), bot: new Uint8Array(steps) };
  for (const { first, user, bot } of parts) {
    waveform.user.set(user, first);
    waveform.bot.set(bot, first);
  }
  return waveform;
}

function decodeBytes(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/** Height of the drawing of a waveform, in units of its SVG. */
export const waveformHeight = 100;
const middle = waveformHeight / 2;
/** Peaks up to this one are drawn as silence. */
const silence = 3;

/**
 * Returns the outline of the waveform of one side as an SVG path, `columns` units wide. Quiet speech is drawn higher than it is in
 * proportion, because people hear it so.
 */
export function createWaveformPath(peaks: Uint8Array, range: Span, columns: number): string {
  const columnMs = (range.toMs - range.fromMs) / columns;
  const heights = Array.from({ length: columns }, (_, column) => {
    const first = Math.max(0, Math.floor((range.fromMs + column * columnMs) / peakStepMs));
    const end = Math.max(first + 1, Math.ceil((range.fromMs + (column + 1) * columnMs) / peakStepMs));
    let highest = 0;
    for (let step = first; step < end && step < peaks.length; step += 1) highest = Math.max(highest, peaks[step] ?? 0);
    return Math.sqrt(Math.max(0, highest - silence) / (255 - silence)) * (middle - 2) + 0.5;
  });
  const format = (value: number) => Number(value.toFixed(1));
  const top = heights.map((height, column) => `${column} ${format(middle - height)}`);
  const bottom = heights.map((height, column) => `${column} ${format(middle + height)}`).reverse();
  return `M${[...top, ...bottom].join('L')}Z`;
}
