import MiniSearch from 'minisearch';
import { helpSearchOptions } from './search-options.ts';

export type HelpResult = {
  readonly address: string;
  readonly heading: string;
  readonly document: string;
  /** The beginning of the section's text. */
  readonly excerpt: string;
};

/** Loads the index, and returns a function that finds sections, best first. */
export async function loadHelpSearch(): Promise<(text: string) => readonly HelpResult[]> {
  const response = await fetch('/help/search.json');
  if (!response.ok) throw new Error(`The help cannot be searched now (status ${response.status}). Try again.`);
  const index = MiniSearch.loadJSON(await response.text(), helpSearchOptions);
  return (text) =>
    index.search(text).map(({ id, heading, document, excerpt }) => ({
      address: String(id),
      heading: String(heading),
      document: String(document),
      excerpt: String(excerpt),
    }));
}
