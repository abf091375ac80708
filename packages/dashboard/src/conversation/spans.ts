/** A period in milliseconds since the start of the session. */
export type Span = { readonly fromMs: number; readonly toMs: number };

/**
 * Joins spans whose distance is too short to be visible, so that a lane of any length is drawn with at most `resolution` shapes.
 * Returns only the spans that overlap `range`, clipped to it, in order of time.
 */
export function mergeSpans(spans: readonly Span[], range: Span, resolution: number): readonly Span[] {
  const shortestMs = (range.toMs - range.fromMs) / resolution;
  const merged: { fromMs: number; toMs: number }[] = [];
  for (const { fromMs, toMs } of spans.toSorted((a, b) => a.fromMs - b.fromMs)) {
    if (toMs < range.fromMs || fromMs > range.toMs) continue;
    const clipped = { fromMs: Math.max(fromMs, range.fromMs), toMs: Math.min(toMs, range.toMs) };
    const last = merged.at(-1);
    if (last !== undefined && clipped.fromMs - last.toMs < shortestMs) last.toMs = Math.max(last.toMs, clipped.toMs);
    else merged.push(clipped);
  }
  return merged;
}

/** Returns the position and width of a span within a range, as percentages for CSS. */
export function placeSpan({ fromMs, toMs }: Span, range: Span): { readonly left: string; readonly width: string } {
  const lengthMs = Math.max(1, range.toMs - range.fromMs);
  const percent = (ms: number) => `${Number(((ms / lengthMs) * 100).toFixed(3))}%`;
  return { left: percent(fromMs - range.fromMs), width: percent(toMs - fromMs) };
}
