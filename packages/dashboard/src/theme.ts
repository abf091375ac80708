export type Theme = 'light' | 'dark';

const storageName = 'bothost.theme';
const changed = new EventTarget();
const systemTheme = matchMedia('(prefers-color-scheme: dark)');

let theme: Theme = 'light';

/** Returns the theme that the person chose or, if there is none, the theme of the system. */
export function getCurrentTheme(): Theme {
  return theme;
}

export function setTheme(chosen: Theme): void {
  localStorage.setItem(storageName, chosen);
  applyTheme();
}

/** Sets the theme of the document, and follows changes in the system settings and in other tabs. */
export function initializeTheme(): void {
  applyTheme();
  systemTheme.addEventListener('change', applyTheme);
  window.addEventListener('storage', applyTheme);
}

export function watchTheme(onChange: () => void): () => void {
  changed.addEventListener('change', onChange);
  return () => changed.removeEventListener('change', onChange);
}

// Only this function may read `systemTheme.matches`. If other code read a changed value first, Chromium would not fire the
// change event, and this function would not be called.
function applyTheme(): void {
  const stored = localStorage.getItem(storageName);
  const system = systemTheme.matches ? 'dark' : 'light';
  theme = stored === 'light' || stored === 'dark' ? stored : system;
  document.documentElement.dataset['theme'] = theme;
  changed.dispatchEvent(new Event('change'));
}
