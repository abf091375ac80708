import { getCurrentTheme, setTheme } from './theme.ts';

/** Makes the button of a page without React switch the theme. */
export function connectThemeButton(): void {
  document.getElementById('theme')?.addEventListener('click', () => {
    setTheme(getCurrentTheme() === 'dark' ? 'light' : 'dark');
  });
}
