import { expect, test } from 'vitest';
import { compareOutcomes, isWorse } from './outcomes.ts';

const figures = (sessions: number, failed: number, responseP50Ms: number | null) => ({
  sessions,
  failed,
  responseP50Ms,
});

test.each([
  [
    figures(10, 1, 1_300),
    figures(200, 0, 900),
    '10.0 % of sessions failed, previously 0 %. The median response takes 1.3 s, previously 900 ms.',
  ],
  [
    figures(10, 0, 900),
    figures(5, 0, 900),
    '0 % of sessions failed, as before. The median response takes 900 ms, as before.',
  ],
  [figures(10, 0, null), figures(5, 0, 900), '0 % of sessions failed, as before.'],
  [figures(0, 0, null), figures(5, 0, 900), null],
  [undefined, figures(5, 0, 900), null],
])(
  'compareOutcomes compares failures and response times, if both deployments had sessions',
  (current, former, text) => {
    expect(compareOutcomes(current, former)).toBe(text);
  },
);

test.each([
  [figures(100, 55, 900), figures(100, 1, 900), { failures: true, responses: false }],
  [figures(100, 1, 2_400), figures(100, 1, 900), { failures: false, responses: true }],
  [figures(100, 5, 1_200), figures(100, 1, 900), { failures: false, responses: false }],
  [figures(100, 30, null), figures(100, 20, 900), { failures: false, responses: false }],
  [figures(9, 9, 2_400), figures(100, 1, 900), { failures: false, responses: false }],
  [figures(100, 55, 2_400), undefined, { failures: false, responses: false }],
])('isWorse ignores small differences and deployments with few sessions', (current, former, worse) => {
  expect(isWorse(current, former)).toEqual(worse);
});
