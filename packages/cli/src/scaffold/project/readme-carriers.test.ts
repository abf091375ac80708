import { expect, test } from 'vitest';
import { transports } from '../catalogue/transports.ts';
import { resolve } from '../configuration/resolve.ts';
import { projectFiles } from './project.ts';

/** The headings of the README of a project with these transports; none where they exclude each other. */
function headingsOf(...chosen: readonly string[]): readonly string[] {
  const given = { transports: chosen, mode: 'realtime', realtime_service: 'openai_realtime' };
  const { configuration } = resolve(given, 'my-bot');
  const readme = configuration === null ? [] : projectFiles(configuration).filter(({ path }) => path === 'README.md');
  return readme.flatMap(({ text }) => text.match(/^## .*$/gm) ?? []);
}

test('no README has two sections of one name, whatever two transports the bot has', () => {
  const values = transports.map(({ value }) => value);
  for (const one of values) {
    for (const other of values) {
      const headings = headingsOf(one, other);
      expect(headings, `${one}, ${other}`).toEqual([...new Set(headings)]);
    }
  }
});

test('calls into a room have a section that says which calls they are', () => {
  expect(headingsOf('carrier1', 'carrier1_hostedrtc_sip_dialin')).toEqual(
    expect.arrayContaining(['## Telephone', '## Telephone: Twilio into a Daily room by SIP, dial-in']),
  );
  expect(headingsOf('hostedrtc_pstn_dialin')).toContain('## Telephone: Daily phone number, dial-in');
});
