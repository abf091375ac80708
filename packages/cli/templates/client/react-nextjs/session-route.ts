import { forwardRequest, getStartUrl } from '../../../../../bot-service';

type Context = { params: Promise<{ sessionId: string; path: string[] }> };

/** Forwards the WebRTC offers and ICE candidates of a session's peer-to-peer connection. */
async function handle(request: Request, { params }: Context): Promise<Response> {
  const { sessionId, path } = await params;
  const start = getStartUrl();
  const place = ['sessions', sessionId, ...path].map(encodeURIComponent).join('/');
  start.pathname = start.pathname.replace(/\/start\/?$/, `/${place}`);
  return forwardRequest(request, start);
}

export { handle as PATCH, handle as POST };
