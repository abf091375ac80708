import '../app.css';
import { initializeTheme } from '../theme.ts';
import { connectThemeButton } from '../theme-button.ts';

initializeTheme();
connectThemeButton();
// The page shows its outline until the reference has loaded, and keeps it if the reference cannot be loaded. The large library is
// requested after the first paint.
requestAnimationFrame(() =>
  setTimeout(() => {
    import('./show-api-reference.ts').then(({ showApiReference }) => showApiReference()).catch(showError);
  }),
);

function showError(error: unknown): void {
  console.error(error);
  const alert = document.createElement('p');
  alert.role = 'alert';
  alert.className = 'm-4 rounded-lg border border-danger bg-danger-surface px-4 py-3 text-danger text-sm';
  alert.textContent = 'The details of the operations cannot be loaded. Reload the page.';
  document.getElementById('outline')?.before(alert);
}
