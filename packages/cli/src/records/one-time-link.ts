import { createFields } from '../output/fields.ts';
import { formatTime } from '../output/format.ts';
import type { CommandReport } from '../output/report.ts';

/** Creates the report for a one-time link, such as an invitation. The service shows the link only once. */
export function createOneTimeLinkReport(
  link: { readonly url: string; readonly expiresAt: string },
  fields: readonly (readonly [string, string])[],
): CommandReport {
  return {
    json: link,
    blocks: [
      createFields([['Link', { text: link.url, tone: 'strong' }], ...fields, ['Expires', formatTime(link.expiresAt)]]),
      { kind: 'note', lines: ['The link works once. Send it over a private channel.'] },
    ],
  };
}
