import { createApiReference } from '@scalar/api-reference';
import '@scalar/api-reference/style.css';
import './reference.css';
import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useSyncExternalStore } from 'react';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { ThemeSwitch } from '../components/theme-switch.tsx';
import { getCurrentTheme, watchTheme } from '../theme.ts';
import { openApiQuery } from './queries.ts';
import type { createApiReferenceDocument } from './reference-document.ts';
import { repairApiReferenceMarkup } from './repair-markup.ts';

type OpenApiDocument = ReturnType<typeof createApiReferenceDocument>;

/** The page at `/docs`: the operations of the API, with a form to try each. */
export function ApiReferencePage() {
  const openApi = useQuery(openApiQuery);
  return (
    <>
      <header className="sticky top-0 z-10 flex h-14 items-center gap-3 border-line border-b bg-surface px-4 sm:px-6">
        {/* Load a new document, not a client-side route, because other pages have a stricter content security policy. */}
        <a href="/" className="flex items-center gap-2 font-semibold">
          <img src="/assets/parrot.svg" alt="" width="28" height="28" />
          bothost
        </a>
        <span aria-hidden="true" className="text-field text-lg">
          /
        </span>
        <h1 className="text-sm">API reference</h1>
        <div className="ml-auto flex items-center gap-2">
          <a href="/v1/openapi.json" className="text-accent text-sm underline max-sm:hidden">
            OpenAPI document
          </a>
          <ThemeSwitch />
        </div>
      </header>
      <QueryBoundary query={openApi}>{(content) => <Reference content={content} />}</QueryBoundary>
    </>
  );
}

function Reference({ content }: { readonly content: OpenApiDocument }) {
  const container = useRef<HTMLDivElement>(null);
  const theme = useSyncExternalStore(watchTheme, getCurrentTheme);
  const reference = useRef<ReturnType<typeof createApiReference>>(undefined);
  useEffect(() => {
    if (container.current === null) return;
    const app = createApiReference(container.current, configurationOf(content, getCurrentTheme()));
    reference.current = app;
    // Repair the markup of the whole body, because Scalar adds its dialogs to the body.
    const stopRepairs = repairApiReferenceMarkup(document.body);
    return () => {
      stopRepairs();
      app.destroy();
    };
  }, [content]);
  useEffect(() => {
    document.title = 'API reference · bothost';
  }, []);
  useEffect(() => reference.current?.updateConfiguration(configurationOf(content, theme)), [content, theme]);
  return <div ref={container} className="reference" />;
}

/** Disables everything that contacts other hosts: fonts, the proxy, telemetry, the chat and the tools of Scalar's own service. */
function configurationOf(content: OpenApiDocument, theme: 'light' | 'dark') {
  return {
    content,
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
