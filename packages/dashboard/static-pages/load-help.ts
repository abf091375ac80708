import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { documentGroups } from './document-groups.ts';
import { type RenderedDocument, renderMarkdown } from './render-markdown.ts';

export type HelpDocument = RenderedDocument & {
  /** The address of its page, without the origin. */
  readonly address: string;
};

export type HelpGroup = { readonly title: string; readonly documents: readonly HelpDocument[] };

/** The title of the group of documents that `documentGroups` does not list. */
export const otherDocuments = 'Other documents';

/** Titles in the navigation, for documents whose heading says less. */
const titles: Readonly<Record<string, string>> = { 'README.md': 'First steps' };

/** Renders all documents. `root` is the directory of the repository. Documents that `documentGroups` does not list come last. */
export function loadHelp(root: string): readonly HelpGroup[] {
  const listed = new Set(documentGroups.flatMap(({ documents }) => documents));
  const decisions = listMarkdown(root, 'docs/decisions');
  const others = listMarkdown(root, 'docs').filter((path) => !listed.has(path) && !decisions.includes(path));
  const groups = [
    ...documentGroups,
    ...(others.length === 0 ? [] : [{ title: otherDocuments, documents: others }]),
    { title: 'Decisions', documents: decisions },
  ];
  const known = new Set([...listed, ...others, ...decisions]);
  const findAddress = (path: string) => {
    if (path === 'docs/decisions') return '/help#decisions';
    return known.has(path) || path.startsWith('docs/pictures/') ? createHelpAddress(path) : null;
  };
  return groups.map(({ title, documents }) => ({
    title,
    documents: documents.map((path) => {
      const rendered = renderMarkdown(path, readFileSync(join(root, path), 'utf8'), findAddress);
      return { ...rendered, address: createHelpAddress(path), title: titles[path] ?? rendered.title };
    }),
  }));
}

function listMarkdown(root: string, folder: string): readonly string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => `${folder}/${path}`)
    .sort();
}

/** Returns the address of a document or an image: `/help/operations/install` for `docs/operations/install.md`. */
export function createHelpAddress(path: string): string {
  return `/help/${path.replace(/^docs\//, '').replace(/\.md$/, '')}`.toLowerCase();
}
