import { forward, startUrl } from '../../../../../bot-service';

type Context = { params: Promise<{ sessionId: string; path: string[] }> };

/** What a peer-to-peer connection is set up with: offers and candidates of one session. */
async function handle(request: Request, { params }: Context): Promise<Response> {
  const { sessionId, path } = await params;
  const start = startUrl();
  const place = ['sessions', sessionId, ...path].map(encodeURIComponent).join('/');
  start.pathname = start.pathname.replace(/\/start\/?$/, `/${place}`);
  return forward(request, start);
}

export { handle as PATCH, handle as POST };
