import { escapeHtml } from './escape-html.ts';
import { createHeadingAnchor } from './heading-anchor.ts';
import type { HelpDocument, HelpGroup } from './load-help.ts';

/** The parts of a page that fill its template, `help.html`. */
type HelpPage = {
  readonly title: string;
  readonly navigation: string;
  readonly content: string;
  readonly outline: string;
};

/** Renders the page of a document. */
export function renderDocumentPage(groups: readonly HelpGroup[], document: HelpDocument, version: string): HelpPage {
  const outline = document.sections.filter(({ level }) => level === 2);
  return {
    title: `${escapeHtml(document.title)} · bothost help`,
    navigation: renderNavigation(groups, document),
    content: document.html + renderFooter(version),
    outline: `<nav aria-label="On this page" class="sticky top-14 hidden w-52 shrink-0 overflow-y-auto py-8 text-sm xl:block xl:max-h-[calc(100dvh-3.5rem)]">
      ${outline.length === 0 ? '' : '<p class="pb-2 font-semibold">On this page</p>'}
      <ul class="flex flex-col gap-1.5">${outline.map(({ heading, anchor }) => `<li><a href="#${anchor}" class="text-quiet hover:text-foreground">${escapeHtml(heading)}</a></li>`).join('')}</ul></nav>`,
  };
}

/** Renders the page at `/help`: all documents, each with its sections. */
export function renderIndexPage(groups: readonly HelpGroup[], version: string): HelpPage {
  const listed = groups.map(({ title, documents }) => {
    const entries = documents.map((document) => {
      const sections = document.sections.filter(({ level }) => level === 2).map(({ heading }) => escapeHtml(heading));
      return `<li><a href="${document.address}">${escapeHtml(document.title)}</a>${sections.length === 0 ? '' : `<br><span class="text-quiet text-sm">${sections.join(' · ')}</span>`}</li>`;
    });
    return `<h2 id="${createHeadingAnchor(title)}">${title}</h2><ul class="index">${entries.join('')}</ul>`;
  });
  return {
    title: 'Help · bothost',
    navigation: renderNavigation(groups, null),
    content: `<h1>Help</h1><p>The documents of this service, in the version that runs.</p>${listed.join('')}${renderFooter(version)}`,
    outline: '',
  };
}

function renderNavigation(groups: readonly HelpGroup[], current: HelpDocument | null): string {
  return groups
    .map(({ title, documents }) => {
      const links = documents.map(
        (document) =>
          `<li><a href="${document.address}"${document === current ? ' aria-current="page"' : ''} class="block rounded-md px-2 py-1 text-quiet hover:text-foreground aria-[current]:bg-line/60 aria-[current]:font-medium aria-[current]:text-foreground">${escapeHtml(document.title)}</a></li>`,
      );
      // Few readers need the last group, which is long.
      const isOpen = title !== 'Decisions' || (current !== null && documents.includes(current));
      return `<details class="pb-4"${isOpen ? ' open' : ''}><summary class="cursor-pointer px-2 pb-1 font-semibold">${title}</summary><ul>${links.join('')}</ul></details>`;
    })
    .join('');
}

function renderFooter(version: string): string {
  return `<footer class="mt-16 border-line border-t pt-4 text-quiet text-sm">bothost ${escapeHtml(version)}</footer>`;
}
