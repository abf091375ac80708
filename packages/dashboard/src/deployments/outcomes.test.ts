import { expect, test } from 'vitest';
import { compareOutcomes } from './outcomes.ts';

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
