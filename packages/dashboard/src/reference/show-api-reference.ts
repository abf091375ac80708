import { createApiReference } from '@scalar/api-reference';
import '@scalar/api-reference/style.css';
import './reference.css';
import { getCurrentTheme, type Theme, watchTheme } from '../theme.ts';
import { repairApiReferenceMarkup } from './repair-markup.ts';

/** Replaces the outline of the page at `/docs` with the API reference: each operation, with a form to try it. */
export async function showApiReference(): Promise<void> {
  const response = await fetch('/docs/openapi.json');
  if (!response.ok) throw new Error(`The API description cannot be loaded (status ${response.status}).`);
  const content = await response.text();
  const container = document.getElementById('reference');
  if (container === null) throw new Error('docs.html has no element with the id reference');
  const reference = createApiReference(container, createConfiguration(content, getCurrentTheme()));
  // Repair the markup of the whole body, because Scalar adds its dialogs to the body.
  repairApiReferenceMarkup(document.body);
  watchTheme(() => reference.updateConfiguration(createConfiguration(content, getCurrentTheme())));
  document.getElementById('outline')?.remove();
}

/** Disables everything that contacts other hosts: fonts, the proxy, telemetry, the chat and the tools of Scalar's own service. */
function createConfiguration(content: string, theme: Theme) {
  return {
    content,
    servers: [{ url: location.origin }] as { url: string }[],
    agent: { disabled: true },
    proxyUrl: '',
    telemetry: false,
    withDefaultFonts: false,
    showDeveloperTools: 'never',
    hideClientButton: true,
    mcp: { disabled: true },
    documentDownloadType: 'none',
    theme: 'none',
    forceDarkModeState: theme,
    hideDarkModeToggle: true,
    authentication: { preferredSecurityScheme: 'privateKey' },
    defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  } as const;
}
