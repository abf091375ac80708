import '../app.css';
import { initializeTheme } from '../theme.ts';
import { connectThemeButton } from '../theme-button.ts';

initializeTheme();
connectThemeButton();
// The page shows its outline until the reference has loaded, and keeps it if the reference cannot be loaded. The large library is
// requested after the first paint.
requestAnimationFrame(() =>
  setTimeout(() => void import('./show-api-reference.ts').then(({ showApiReference }) => showApiReference())),
);
