export type Route =
  | { readonly name: 'start' }
  | { readonly name: 'talk'; readonly agent: string }
  | { readonly name: 'unknown'; readonly path: string };

/** The page that a path leads to: `/` or `/talk/:agent`. */
export function routeOf(path: string): Route {
  if (path === '/' || path === '/index.html') return { name: 'start' };
  const agent = /^\/talk\/([^/]+)\/?$/.exec(path)?.[1];
  return agent === undefined ? { name: 'unknown', path } : { name: 'talk', agent: decoded(agent) };
}

export function talkPath(agent: string): string {
  return `/talk/${encodeURIComponent(agent)}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
