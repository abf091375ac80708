import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { organizationSettingsPages, personalSettingsPages } from '../organization/settings-pages.ts';

/** Read as text, because the modules of the loaders need a browser. */
const routes = readFileSync(new URL('./routes.ts', import.meta.url), 'utf8');

it.each([
  ['organizationSettings', '/orgs/$organization/settings', organizationSettingsPages],
  ['personalSettings', '/settings', personalSettingsPages],
])('the navigation of %s links to each of its routes without parameters', (parent, path, pages) => {
  const children = routes.matchAll(new RegExp(`getParentRoute: \\(\\) => ${parent},\\s+path: '(/[^'$]+)'`, 'g'));
  expect(pages.map(({ to }) => to)).toEqual([...children].map(([, child]) => `${path}${child}`));
});
