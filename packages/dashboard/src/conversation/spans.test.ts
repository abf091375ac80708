import { expect, test } from 'vitest';
import { mergeSpans, placeSpan } from './spans.ts';

const range = { fromMs: 1_000, toMs: 11_000 };

test('mergeSpans clips spans to the range, and omits spans outside of it', () => {
  const spans = [
    { fromMs: 0, toMs: 900 },
    { fromMs: 500, toMs: 2_000 },
    { fromMs: 10_000, toMs: 20_000 },
    { fromMs: 12_000, toMs: 13_000 },
  ];
  expect(mergeSpans(spans, range, 100)).toEqual([
    { fromMs: 1_000, toMs: 2_000 },
    { fromMs: 10_000, toMs: 11_000 },
  ]);
});

test('mergeSpans joins spans that overlap or whose distance is too short to be visible', () => {
  const spans = [
    { fromMs: 5_000, toMs: 6_000 },
    { fromMs: 2_000, toMs: 4_000 },
    { fromMs: 2_500, toMs: 3_000 },
    { fromMs: 4_099, toMs: 4_500 },
  ];
  expect(mergeSpans(spans, range, 100)).toEqual([
    { fromMs: 2_000, toMs: 4_500 },
    { fromMs: 5_000, toMs: 6_000 },
  ]);
});

test('mergeSpans returns at most as many spans as the resolution allows', () => {
  const spans = Array.from({ length: 100_000 }, (_, index) => ({
    fromMs: 1_000 + index / 10,
    toMs: 1_000 + index / 10 + 0.05,
  }));
  expect(mergeSpans(spans, range, 100).length).toBeLessThanOrEqual(101);
});

test('placeSpan returns percentages of the range', () => {
  expect(placeSpan({ fromMs: 3_500, toMs: 6_000 }, range)).toEqual({ left: '25%', width: '25%' });
});
