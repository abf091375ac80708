import { forward, startUrl } from '../../../../../bot-service';

type Context = { params: Promise<{ sessionId: string; path: string[] }> };

/** Forwards the offers and candidates that set up the peer-to-peer connection of a session. */
async function handle(request: Request, { params }: Context): Promise<Response> {
  const { sessionId, path } = await params;
  const start = startUrl();
  const place = ['sessions', sessionId, ...path].map(encodeURIComponent).join('/');
  start.pathname = start.pathname.replace(/\/start\/?$/, `/${place}`);
  return forward(request, start);
}

export { handle as PATCH, handle as POST };
