import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import MiniSearch from 'minisearch';
import { describe, expect, it } from 'vitest';
import { helpTopics } from '../src/components/help-topics.ts';
import { findHelpAddress, helpSections } from '../src/help/help-sections.ts';
import { helpSearchOptions } from '../src/help/search-options.ts';
import { createHeadingAnchor } from './heading-anchor.ts';
import { loadHelp, otherDocuments } from './load-help.ts';
import { createHelpSearchIndex } from './search-index.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const groups = loadHelp(root);
const documents = groups.flatMap((group) => group.documents);
const addresses = new Set([
  '/help',
  ...groups.map(({ title }) => `/help#${createHeadingAnchor(title)}`),
  ...documents.flatMap(({ address, sections }) => [address, ...sections.map(({ anchor }) => `${address}#${anchor}`)]),
]);

describe('the help', () => {
  it('has no document that document-groups.ts does not list', () => {
    expect(groups.find(({ title }) => title === otherDocuments)).toBeUndefined();
  });

  it('has every section to which a page of the dashboard links', () => {
    const sections = [...Object.values(helpSections), ...helpTopics];
    expect(sections.filter((section) => !addresses.has(`/help/${section}`))).toEqual([]);
    expect(findHelpAddress('/orgs/$organization/secrets/$set')).toBe('/help/secrets#compare-and-roll-back');
    expect(findHelpAddress('/orgs/$organization/settings/audit/')).toBe(
      '/help/operations/vault-and-audit#the-audit-log',
    );
    expect(findHelpAddress('/sign-in')).toBe('/help/accounts#passwords-and-sessions');
  });

  it('has every document, section and image to which its documents link', () => {
    const links = documents.flatMap(({ address, html }) =>
      [...html.matchAll(/<a href="([#/][^"]*)"/g)].map(([, href = '']) =>
        href.startsWith('#') ? address + href : href,
      ),
    );
    expect(links.length).toBeGreaterThan(200);
    expect(links.filter((link) => !addresses.has(link))).toEqual([]);
    const images = documents.flatMap((document) => document.images);
    expect(images.length).toBeGreaterThan(0);
    expect(images.filter((image) => !existsSync(join(root, image)))).toEqual([]);
  });

  it.each([
    ['rollback', '/help/deploy#a-rollback'],
    ['BOTHOST_TURN_SECRET', '/help/media#a-turn-server'],
    ['image pull secret', '/help/secrets#image-pull-secrets'],
  ])('finds %s among its first three results', (text, address) => {
    const index = MiniSearch.loadJSON(createHelpSearchIndex(groups), helpSearchOptions);
    expect(
      index
        .search(text)
        .slice(0, 3)
        .map(({ id }) => id),
    ).toContain(address);
  });
});
