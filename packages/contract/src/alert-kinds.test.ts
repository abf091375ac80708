import { expect, it } from 'vitest';
import { alertKinds, alertWindowMinutes } from './alert-kinds.ts';
import { createAlert } from './operations/alerts.ts';

const kinds = Object.entries(alertKinds);

it.each(kinds)('createAlert of the kind %s sets the defaults of alertKinds', (kind, { threshold, hasWindow }) => {
  expect(createAlert.body.parse({ kind })).toEqual({
    kind,
    ...(threshold === null ? {} : { threshold: threshold.default }),
    ...(hasWindow ? { windowMinutes: alertWindowMinutes.default } : {}),
  });
});

it.each(kinds)('createAlert of the kind %s accepts values up to the maximum', (kind, { threshold, hasWindow }) => {
  const most = {
    kind,
    ...(threshold === null ? {} : { threshold: threshold.maximum }),
    ...(hasWindow ? { windowMinutes: alertWindowMinutes.maximum } : {}),
  };
  const beyond = [
    ...(threshold === null ? [] : [{ ...most, threshold: threshold.maximum + 1 }]),
    ...(hasWindow ? [{ ...most, windowMinutes: alertWindowMinutes.maximum + 1 }] : []),
  ];
  const accepted = [most, ...beyond].filter((rule) => createAlert.body.safeParse(rule).success);
  expect(accepted).toEqual([most]);
});
