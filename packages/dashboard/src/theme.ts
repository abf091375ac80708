export type Theme = 'light' | 'dark';

const storageName = 'bothost.theme';
const changed = new EventTarget();
const systemTheme = matchMedia('(prefers-color-scheme: dark)');

/** The chosen theme, or that of the system. */
export function currentTheme(): Theme {
  const stored = localStorage.getItem(storageName);
  if (stored === 'light' || stored === 'dark') return stored;
  return systemTheme.matches ? 'dark' : 'light';
}

export function setTheme(theme: Theme): void {
  localStorage.setItem(storageName, theme);
  applyTheme();
}

/** Sets the theme of the document, and follows changes in the system settings and in other tabs. */
export function startTheme(): void {
  applyTheme();
  systemTheme.addEventListener('change', applyTheme);
  window.addEventListener('storage', applyTheme);
}

export function watchTheme(onChange: () => void): () => void {
  changed.addEventListener('change', onChange);
  return () => changed.removeEventListener('change', onChange);
}

function applyTheme(): void {
  document.documentElement.dataset['theme'] = currentTheme();
  changed.dispatchEvent(new Event('change'));
}
