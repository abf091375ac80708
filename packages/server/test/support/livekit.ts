import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { type JWTPayload, jwtVerify } from 'jose';
import { z } from 'zod';

const Request = z.object({ name: z.string().optional(), room: z.string().optional() });

/** A stand-in for a LiveKit server: its RoomService over Twirp, which accepts tokens that are signed with the secret of the server. */
export async function startLiveKitStandIn() {
  const [apiKey, apiSecret] = ['key-1', 'a secret that only the service has'];
  const rooms = new Set<string>();
  let isFailing = false;
  const readToken = async (token: string): Promise<JWTPayload> =>
    (await jwtVerify(token, Buffer.from(apiSecret), { issuer: apiKey })).payload;
  const answer = async (method: string | undefined, token: string, body: unknown) => {
    if (isFailing) return { status: 503, body: { code: 'unavailable', msg: 'no nodes' } };
    const { video } = await readToken(token).catch(() => ({ video: null }));
    const { name = '', room = '' } = Request.parse(body);
    if (JSON.stringify(video) !== '{"roomCreate":true}')
      return { status: 401, body: { code: 'unauthenticated', msg: 'permissions denied' } };
    if (method === 'CreateRoom') rooms.add(name);
    else if (!rooms.delete(room)) return { status: 404, body: { code: 'not_found', msg: 'no such room' } };
    return { status: 200, body: {} };
  };
  const server = createServer((incoming, outgoing) => {
    const token = incoming.headers.authorization?.replace('Bearer ', '') ?? '';
    void json(incoming)
      .then((body) => answer(incoming.url?.replace('/twirp/livekit.RoomService/', ''), token, body))
      .then(({ status, body }) =>
        outgoing.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    apiSecret,
    settings: { BOTHOST_LIVEKIT_URL: url, BOTHOST_LIVEKIT_API_KEY: apiKey, BOTHOST_LIVEKIT_API_SECRET: apiSecret },
    listRooms: () => [...rooms],
    fail: (fails: boolean) => {
      isFailing = fails;
    },
    readToken,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
