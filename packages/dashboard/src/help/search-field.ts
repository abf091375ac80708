import { isTypingTarget } from '../components/typing-target.ts';
import type { HelpResult, loadHelpSearch } from './search-help.ts';

const resultsAtMost = 30;

/**
 * Shows what the search field of the page finds while a person types, and for the query of the address. Enter opens the first
 * result, the arrow keys choose one, `/` focuses the field, and Escape closes the results.
 */
export function connectSearch(): void {
  const field = requireElement('search', HTMLInputElement);
  const results = requireElement('results', HTMLElement);
  const list = requireElement('result-list', HTMLElement);
  const count = requireElement('result-count', HTMLElement);
  let search: ReturnType<typeof loadHelpSearch> | undefined;
  const load = () => {
    search ??= import('./search-help.ts').then((module) => module.loadHelpSearch());
    search.catch(() => {
      search = undefined;
    });
    return search;
  };

  const show = async () => {
    const text = field.value.trim();
    results.hidden = text === '';
    if (text === '') return;
    try {
      const find = await load();
      // The person may have typed more while the index was loading.
      if (field.value.trim() !== text) return;
      const found = find(text);
      count.textContent = found.length === 0 ? `Nothing matches “${text}”.` : `${found.length} sections match.`;
      list.replaceChildren(...found.slice(0, resultsAtMost).map(createResult));
    } catch (error) {
      count.textContent = error instanceof Error ? error.message : String(error);
      list.replaceChildren();
    }
  };
  const links = () => [...list.querySelectorAll('a')];

  field.addEventListener('focus', () => void load().catch(() => undefined));
  field.addEventListener('input', () => void show());
  field.form?.addEventListener('submit', (event) => {
    event.preventDefault();
    links()[0]?.click();
  });
  // A result on the same page only changes the anchor.
  list.addEventListener('click', () => {
    results.hidden = true;
  });
  document.addEventListener('keydown', (event) => {
    if (event.key === '/' && !isTypingTarget(event.target)) {
      event.preventDefault();
      field.select();
    }
    if (results.hidden) return;
    if (event.key === 'Escape') {
      results.hidden = true;
      field.focus();
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const all = links();
    const next = all.findIndex((link) => link.matches(':focus')) + step;
    if (next < 0) field.focus();
    else all[next]?.focus();
  });

  const query = new URLSearchParams(location.search).get('q');
  if (query === null) return;
  field.value = query;
  void show();
}

function createResult({ address, heading, document: title, excerpt }: HelpResult): HTMLElement {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = address;
  link.className = 'block rounded-lg px-3 py-2 hover:bg-line/60 focus:bg-line/60';
  const lines = [
    [heading, 'font-medium'],
    [heading === title ? '' : title, 'pl-2 text-quiet text-sm'],
    [excerpt, 'block truncate text-quiet text-sm'],
  ] as const;
  for (const [text, classes] of lines) {
    const line = document.createElement('span');
    line.textContent = text;
    line.className = classes;
    link.append(line);
  }
  item.append(link);
  return item;
}

function requireElement<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const element = document.getElementById(id);
  if (!(element instanceof kind)) throw new Error(`The page has no element with the id ${id}`);
  return element;
}
