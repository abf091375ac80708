import { dirname, join } from 'node:path/posix';
import { Marked, Renderer, type Token, type Tokens } from 'marked';
import { escapeHtml } from './escape-html.ts';
import { createHeadingAnchor } from './heading-anchor.ts';

/** A heading with the text below it, as Markdown. The introduction of a document is the section of its title. */
export type DocumentSection = {
  readonly heading: string;
  readonly anchor: string;
  /** 1 for the title of the document. */
  readonly level: number;
  readonly text: string;
};

export type RenderedDocument = {
  readonly title: string;
  readonly html: string;
  readonly sections: readonly DocumentSection[];
  /** Files that the document shows. */
  readonly images: readonly string[];
};

/**
 * Returns the address of a document or an image of the help. Null for another file of the repository, which the help does not have.
 */
export type HelpAddressLookup = (path: string) => string | null;

/**
 * Renders a document for the help. HTML in it is shown as text, and links lead to documents of the help or to other hosts. `path`
 * and the paths of images are relative to the root of the repository.
 */
export function renderMarkdown(path: string, markdown: string, findAddress: HelpAddressLookup): RenderedDocument {
  const images: string[] = [];
  const resolve = (target: string) => (target === '' ? path : join(dirname(path), target));
  const marked = new Marked();
  const tokens = marked.lexer(markdown);
  const sections = splitIntoSections(tokens);
  const anchors = sections.map(({ anchor }) => anchor);
  marked.use({
    renderer: {
      html: ({ text }) => escapeHtml(text),
      heading({ tokens: content, depth }) {
        const anchor = anchors.shift() ?? '';
        const link = `<a class="anchor" href="#${anchor}" aria-label="Link to this section">#</a>`;
        return `<h${depth} id="${anchor}">${this.parser.parseInline(content)}${depth === 1 ? '' : link}</h${depth}>\n`;
      },
      link({ href, tokens: content }) {
        const text = this.parser.parseInline(content);
        if (/^https?:/.test(href)) return `<a href="${escapeHtml(href)}" rel="noreferrer">${text}</a>`;
        const [, target = '', anchor = ''] = /^([^#]*)(#.*)?$/.exec(href) ?? [];
        const file = resolve(target);
        const address = target === '' ? '' : findAddress(file);
        if (address !== null) return `<a href="${escapeHtml(address + anchor)}">${text}</a>`;
        return text.includes(file) ? text : `${text} (<code>${escapeHtml(file)}</code>)`;
      },
      image({ href, text }) {
        const file = resolve(href);
        images.push(file);
        return `<img src="${escapeHtml(findAddress(file) ?? '')}" alt="${escapeHtml(text)}" loading="lazy">`;
      },
      code: ({ text, lang = '' }) =>
        `<pre tabindex="0"${lang === '' ? '' : ` data-language="${escapeHtml(lang)}"`}><code>${escapeHtml(text)}</code></pre>\n`,
      table(token) {
        const table = Renderer.prototype.table.call(this, token);
        return `<div class="table" role="region" aria-label="Table, scrollable" tabindex="0">${table}</div>\n`;
      },
    },
  });
  const html = marked.parser(tokens);
  return { title: sections[0]?.heading ?? path, html, sections, images };
}

function splitIntoSections(tokens: readonly Token[]): readonly DocumentSection[] {
  const sections: { heading: string; anchor: string; level: number; text: string }[] = [];
  const counts = new Map<string, number>();
  for (const token of tokens) {
    if (token.type === 'heading') {
      const { text, depth } = token as Tokens.Heading;
      const anchor = createHeadingAnchor(text);
      const count = counts.get(anchor) ?? 0;
      counts.set(anchor, count + 1);
      // GitHub numbers equal headings, too.
      const unique = count === 0 ? anchor : `${anchor}-${count}`;
      sections.push({ heading: text.replaceAll('`', ''), anchor: unique, level: depth, text: '' });
    } else {
      const section = sections.at(-1);
      if (section !== undefined) section.text += token.raw;
    }
  }
  return sections;
}
