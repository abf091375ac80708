import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { loadKey } from './public-key.ts';
import { routeOf } from './route.ts';
import './style.css';

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no element with the id root');
const publicKey = loadKey({ location, history, storage: sessionStorage });
createRoot(root).render(
  <StrictMode>
    <App route={routeOf(location.pathname)} initialKey={publicKey} />
  </StrictMode>,
);
