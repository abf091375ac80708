import MiniSearch from 'minisearch';
import { helpSearchOptions } from '../src/help/search-options.ts';
import type { HelpGroup } from './load-help.ts';

/** Creates the index that pages load to search the help. Each section of a document is an entry. */
export function createHelpSearchIndex(groups: readonly HelpGroup[]): string {
  const search = new MiniSearch(helpSearchOptions);
  for (const { documents } of groups) {
    for (const { address, title, sections } of documents) {
      for (const { heading, anchor, level, text } of sections) {
        const plain = removeMarkup(text);
        search.add({
          id: level === 1 ? address : `${address}#${anchor}`,
          document: title,
          heading,
          text: plain,
          excerpt: plain.slice(0, 160),
        });
      }
    }
  }
  return JSON.stringify(search);
}

/** Removes the syntax of Markdown from text, for the index and for excerpts. */
function removeMarkup(markdown: string): string {
  return markdown
    .replace(/^```.*$/gm, '')
    .replace(/^\|[-| :]+\|$/gm, '')
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*|]/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}
