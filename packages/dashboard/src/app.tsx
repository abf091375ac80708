import { useEffect, useState } from 'react';
import { storeKey } from './public-key.ts';
import type { Route } from './route.ts';
import { StartPage } from './start-page.tsx';
import { TalkPage } from './talk-page.tsx';

interface AppProps {
  readonly route: Route;
  readonly initialKey: string | undefined;
}

const titles = { start: 'bothost', talk: 'Talk', unknown: 'Not found' } as const;

export function App({ route, initialKey }: AppProps) {
  const [publicKey, setPublicKey] = useState(initialKey);
  const changeKey = (key: string | undefined) => {
    storeKey(sessionStorage, key);
    setPublicKey(key);
  };
  useEffect(() => {
    document.title = route.name === 'talk' ? `Talk to ${route.agent} · bothost` : titles[route.name];
  }, [route]);

  return (
    <>
      <a className="skip" href="#content">
        Skip to the content
      </a>
      <header className="bar">
        <a className="brand" href="/">
          <img src="/assets/parrot.svg" alt="" width="28" height="28" />
          bothost
        </a>
      </header>
      <main id="content">
        {route.name === 'start' && <StartPage />}
        {route.name === 'talk' && <TalkPage agent={route.agent} publicKey={publicKey} onKey={changeKey} />}
        {route.name === 'unknown' && <UnknownPage path={route.path} />}
      </main>
    </>
  );
}

function UnknownPage({ path }: { readonly path: string }) {
  return (
    <section className="card">
      <h1>Page not found</h1>
      <p>
        No page exists at <code>{path}</code>.
      </p>
      <p>
        <a href="/">Go to the start page</a>
      </p>
    </section>
  );
}
