import type { Options } from 'minisearch';

/** How the build indexes the sections of the documents, and pages search them. The id of an entry is its address. */
export const helpSearchOptions: Options = {
  fields: ['heading', 'document', 'text'],
  storeFields: ['heading', 'document', 'excerpt'],
  searchOptions: {
    boost: { heading: 4, document: 2 },
    // A guide answers more questions than a reference of commands, or a history.
    boostDocument: (address) => (/^\/help\/(?:botcli|changelog|decisions)\b/.test(String(address)) ? 0.4 : 1),
    prefix: true,
    fuzzy: 0.15,
    combineWith: 'AND',
  },
};
