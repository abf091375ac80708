/** Accessibility faults in the markup of Scalar, the library that renders the API reference, each with its repair. */
const repairs: readonly (readonly [selector: string, repair: (element: Element) => void])[] = [
  ['button[role=search]', (element) => element.removeAttribute('role')],
  ['button[aria-selected]:not([role])', (element) => element.removeAttribute('aria-selected')],
  ['button.scalar-code-copy:not([aria-label])', (element) => element.setAttribute('aria-label', 'Copy')],
  ['button.show-more[aria-label]', (element) => element.removeAttribute('aria-label')],
  ['[role=combobox]:not([aria-expanded])', (element) => element.setAttribute('aria-expanded', 'true')],
  ['ul.endpoints:not([tabindex])', (element) => element.setAttribute('tabindex', '0')],
  ['div[aria-label^="undefined "]', (element) => element.removeAttribute('aria-label')],
  [
    '.cm-content[role=textbox]:not([aria-label])',
    (element) => element.setAttribute('aria-label', element.getAttribute('aria-placeholder') ?? 'Body'),
  ],
  [
    '[role=dialog] input[type=checkbox]:not([aria-label])',
    (element) => element.setAttribute('aria-label', 'Send this value'),
  ],
  ['.cm-scroller[tabindex="-1"]:has([contenteditable=false])', (element) => element.setAttribute('tabindex', '0')],
  ['button[role=none]', (element) => element.removeAttribute('role')],
  ['.group\\/copy-button[aria-controls]', (element) => element.removeAttribute('aria-controls')],
];

/** Repairs Scalar's markup inside an element, immediately and after each change. Returns a function that stops the repairs. */
export function repairApiReferenceMarkup(root: Element): () => void {
  const repairAll = () => {
    for (const [selector, repair] of repairs) for (const element of root.querySelectorAll(selector)) repair(element);
  };
  const observer = new MutationObserver(repairAll);
  observer.observe(root, { subtree: true, childList: true, attributeFilter: ['role', 'aria-selected', 'aria-label'] });
  repairAll();
  return () => observer.disconnect();
}
