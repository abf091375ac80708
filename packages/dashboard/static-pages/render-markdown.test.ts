import { describe, expect, it } from 'vitest';
import { renderMarkdown } from './render-markdown.ts';

const addresses: Readonly<Record<string, string>> = {
  'docs/secrets.md': '/help/secrets',
  'README.md': '/help/readme',
  'docs/pictures/talk.png': '/help/pictures/talk.png',
};
const render = (markdown: string, path = 'docs/deploy.md') =>
  renderMarkdown(path, markdown, (file) => addresses[file] ?? null);

describe('renderMarkdown', () => {
  it('returns the title and the sections, with anchors as GitHub derives them', () => {
    const { title, sections, html } = render(
      '# Deploy\n\nIntro\n\n## `deploy.toml`\n\nOne\n\n## A change\n\n## A change\n',
    );
    expect(title).toBe('Deploy');
    expect(sections.map(({ heading, anchor, level }) => [heading, anchor, level])).toEqual([
      ['Deploy', 'deploy', 1],
      ['deploy.toml', 'deploytoml', 2],
      ['A change', 'a-change', 2],
      ['A change', 'a-change-1', 2],
    ]);
    expect(sections[1]?.text).toContain('One');
    expect(html).toContain('<h2 id="a-change-1">');
  });

  it('shows HTML as text, and makes no link of an address that is not HTTP', () => {
    const { html } = render(
      '# T\n\n<script>alert(1)</script>\n\na <img src=x onerror=alert(1)> b\n\n[x](javascript:alert(1))\n',
    );
    expect(html).not.toMatch(/<script|<img|href="javascript/);
    expect(html).toContain('&lt;script&gt;');
  });

  it('rewrites links to documents, anchors and images', () => {
    const { html, images } = render(
      '# T\n\n[a](secrets.md#limits) [b](../README.md) [c](#t) [d](https://example.com/?a=1&b=2) ![Talk](pictures/talk.png)\n',
    );
    expect(html).toContain('<a href="/help/secrets#limits">a</a>');
    expect(html).toContain('<a href="/help/readme">b</a>');
    expect(html).toContain('<a href="#t">c</a>');
    expect(html).toContain('<a href="https://example.com/?a=1&amp;b=2" rel="noreferrer">d</a>');
    expect(html).toContain('<img src="/help/pictures/talk.png" alt="Talk"');
    expect(images).toEqual(['docs/pictures/talk.png']);
  });

  it('names the path of a file that the help does not have, instead of linking to it', () => {
    const { html } = render('# T\n\n[the parrot](../examples/parrot)\n');
    expect(html).toContain('the parrot (<code>examples/parrot</code>)');
    expect(html).not.toContain('<a href="../');
  });

  it('lets the keyboard scroll code and tables', () => {
    const { html } = render('# T\n\n```sh\nbotcli <x>\n```\n\n| a |\n|---|\n| b |\n');
    expect(html).toContain('<pre tabindex="0" data-language="sh"><code>botcli &lt;x&gt;</code></pre>');
    expect(html).toMatch(/<div class="table" role="region"[^>]* tabindex="0"><table>/);
  });
});
