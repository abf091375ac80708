import { expect, test } from 'vitest';
import { transports } from '../catalogue/transports.ts';
import { resolveConfiguration } from '../configuration/resolve.ts';
import { generateProjectFiles } from './project.ts';

/**
 * Lists the headings in the README of a project with these transports. Returns an empty list if the transports cannot be
 * combined.
 */
function headingsOf(...chosen: readonly string[]): readonly string[] {
  const options = { transports: chosen, mode: 'realtime', realtime_service: 'openai_realtime' };
  const { configuration } = resolveConfiguration(options, 'my-bot');
  const readme =
    configuration === null ? [] : generateProjectFiles(configuration).filter(({ path }) => path === 'README.md');
  return readme.flatMap(({ text }) => text.match(/^## .*$/gm) ?? []);
}

test('the headings of a README are unique for every pair of transports', () => {
  const values = transports.map(({ value }) => value);
  for (const one of values) {
    for (const other of values) {
      const headings = headingsOf(one, other);
      expect(headings, `${one}, ${other}`).toEqual([...new Set(headings)]);
    }
  }
});

test('a README heading for phone calls into hosted rooms contains the vendor of the rooms and the call direction', () => {
  expect(headingsOf('carrier1', 'carrier1_hostedrtc_sip_dialin')).toEqual(
    expect.arrayContaining(['## Telephone', '## Telephone: Twilio and Daily, dial-in']),
  );
  expect(headingsOf('hostedrtc_pstn_dialin')).toContain('## Telephone: Daily phone number, dial-in');
});
