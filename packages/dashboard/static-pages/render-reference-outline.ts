import { Marked } from 'marked';
import { escapeHtml } from './escape-html.ts';
import { listOperations, type ReferenceDocument } from './reference-document.ts';

/**
 * Renders the list of all operations, which the page at `/docs` shows until the API reference has loaded. The links are those of
 * Scalar, which opens the operation of the address.
 */
export function renderReferenceOutline(document: ReferenceDocument): string {
  const { info, tags, paths } = document;
  const operations = Object.entries(paths).flatMap(([path, entry]) =>
    listOperations(entry).map(({ method, operation }) => ({ path, method: method.toUpperCase(), operation })),
  );
  const groups = tags.map(({ name, 'x-displayName': title, description }) => {
    const rows = operations
      .filter(({ operation }) => operation.tags[0] === name)
      .map(
        ({ path, method, operation }) => `<li class="flex flex-col gap-x-4 py-1.5 sm:flex-row">
        <a href="#tag/${name}/${method}${escapeHtml(path)}" class="sm:w-2/5 sm:shrink-0">${escapeHtml(operation.summary)}</a>
        <code class="min-w-0 font-mono text-quiet text-xs leading-6 wrap-anywhere">${method} ${escapeHtml(path)}</code></li>`,
      );
    return `<section><h2 id="tag/${name}" class="scroll-mt-20 pt-8 font-semibold text-xl">${escapeHtml(title)}</h2>
      <p class="pb-3 text-quiet">${escapeHtml(description)}</p>
      <ul class="divide-y divide-line text-sm [&_a]:text-accent [&_a]:underline-offset-4 [&_a]:hover:underline">${rows.join('')}</ul></section>`;
  });
  const links = tags.map(
    ({ name, 'x-displayName': title }) =>
      `<li><a href="#tag/${name}" class="block px-2 py-1.5 text-quiet hover:text-foreground">${escapeHtml(title)}</a></li>`,
  );
  return `<div class="flex items-start">
    <nav aria-label="Groups of operations" class="sticky top-14 w-72 shrink-0 border-line border-r px-3 py-6 text-sm max-lg:hidden lg:h-[calc(100dvh-3.5rem)] lg:overflow-y-auto">
      <ul>${links.join('')}</ul>
    </nav>
    <main class="min-w-0 flex-1 px-4 pt-12 pb-20 sm:px-15">
      <div class="mx-auto max-w-5xl">
        <h2 class="pb-4 font-semibold text-2xl">${escapeHtml(info.title)}</h2>
        <div class="flex max-w-3xl flex-col gap-4 leading-relaxed">${new Marked().parse(info.description, { async: false })}</div>
        ${groups.join('')}
      </div>
    </main>
  </div>`;
}
