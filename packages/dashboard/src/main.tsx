import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { isSignedOutError } from './api.ts';
import './app.css';
import { clearSignedOutUserData, syncSignInAcrossTabs } from './accounts/session.ts';
import { ConnectionBanner } from './connection/connection-banner.tsx';
import { watchConnection } from './connection/watch-connection.ts';
import { createAppRouter } from './router.ts';
import { loadPublicApiKey } from './talk/public-key.ts';
import { initializeTheme } from './theme.ts';

const container = document.getElementById('root');
if (container === null) throw new Error('index.html has no element with the id root');

// If a request fails because the session has expired, mark the person as signed out. Pages that need a session then redirect to
// the sign-in page.
const queryCache = new QueryCache({ onError: (error) => isSignedOutError(error) && clearSignedOutUserData(queries) });
const queries = new QueryClient({
  queryCache,
  defaultOptions: {
    queries: {
      retry: (count, error) => count < 1 && !isSignedOutError(error),
      // A page that is shown does not repeat the requests that its loader just sent.
      staleTime: 2_000,
    },
  },
});
const router = createAppRouter(queries);

// The URL of a talk page can contain a public key. Store the key and remove it from the URL before the router reads the URL.
if (location.pathname.startsWith('/talk/')) loadPublicApiKey({ location, history, storage: sessionStorage });
initializeTheme();
syncSignInAcrossTabs(queries);
watchConnection();
createRoot(container).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
      <ConnectionBanner />
    </QueryClientProvider>
  </StrictMode>,
);
