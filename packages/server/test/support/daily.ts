import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';

export type DailyRoom = {
  readonly name: string;
  readonly privacy: string;
  /** Unix seconds. Undefined if the room never expires. */
  readonly exp: number | undefined;
  readonly properties: Readonly<Record<string, unknown>>;
};

/** A response that the stand-in sends instead of its own, or `hang` for no response. */
type Fault = { readonly status: number; readonly body: string; readonly type?: string } | 'hang';

/** A stand-in for the REST API of Daily (https://docs.daily.co/reference/rest-api) on a loopback port. */
export type DailyStandIn = {
  readonly url: string;
  readonly apiKey: string;
  readonly domain: string;
  /** The rooms that exist now. */
  readonly rooms: () => readonly DailyRoom[];
  /** All requests so far, as `POST /rooms`. */
  readonly requests: readonly string[];
  /** The properties of all meeting tokens so far, by token. */
  readonly tokens: ReadonlyMap<string, Readonly<Record<string, unknown>>>;
  /** Makes the next `times` requests that begin with `prefix` fail. The request is not carried out. */
  readonly fail: (prefix: string, fault: Fault, times?: number) => void;
  /** Ends all failures. */
  readonly recover: () => void;
  readonly close: () => Promise<void>;
};

const RoomRequest = z.object({
  name: z.string().regex(/^[A-Za-z0-9_-]{1,41}$/),
  privacy: z.enum(['public', 'private']).default('public'),
  properties: z.record(z.string(), z.unknown()).default({}),
});
const knownProperties = new Set([
  'exp',
  'eject_at_room_exp',
  'enable_dialout',
  'enable_recording',
  'sip',
  'max_participants',
  'geo',
]);
const TokenRequest = z.object({ properties: z.looseObject({ room_name: z.string(), exp: z.number().optional() }) });

/** `latencyMs`: how long a request takes. `port` is by default any free one. */
export async function startDailyStandIn({ latencyMs = 0, port = 0 } = {}): Promise<DailyStandIn> {
  const apiKey = randomUUID().replaceAll('-', '').repeat(2);
  const domain = 'stand-in';
  const rooms = new Map<string, DailyRoom>();
  const tokens = new Map<string, Readonly<Record<string, unknown>>>();
  const requests: string[] = [];
  const faults: { readonly prefix: string; readonly fault: Fault; times: number }[] = [];
  const server = createServer((request, response) => void respond(request, response));
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request).catch(() => null);
    // The client closed the connection before the request was complete.
    if (body === null) return;
    const line = `${request.method} ${(request.url ?? '').replace(/^\/v1/, '')}`;
    requests.push(line);
    const fault = faults.find(({ prefix, times }) => times > 0 && line.startsWith(prefix));
    if (fault !== undefined) {
      fault.times -= 1;
      if (fault.fault === 'hang') return;
      response.writeHead(fault.fault.status, { 'content-type': fault.fault.type ?? 'application/json' });
      response.end(fault.fault.body);
      return;
    }
    if (latencyMs > 0) await delay(latencyMs);
    const { status, json } = handle(line, body, request.headers.authorization);
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(json));
  }

  function handle(line: string, body: string, authorization: string | undefined): { status: number; json: object } {
    if (authorization === undefined) return refuse(400, 'authorization-header-error', 'missing authorization header');
    if (authorization !== `Bearer ${apiKey}`) return refuse(401, 'authentication-error');
    const [method = '', path = ''] = line.split(' ');
    if (line === 'GET /') return { status: 200, json: { domain_name: domain, config: {} } };
    if (line === 'POST /rooms') return createRoom(body);
    if (line === 'POST /meeting-tokens') return createToken(body);
    const name = /^\/rooms\/([^/]+)$/.exec(path)?.[1] ?? '';
    const room = rooms.get(name);
    if (room === undefined) return refuse(404, 'not-found');
    if (method === 'GET') return { status: 200, json: describe(room) };
    if (method !== 'DELETE') return refuse(404, 'not-found');
    rooms.delete(name);
    return { status: 200, json: { deleted: true, name } };
  }

  function createRoom(body: string) {
    const parsed = RoomRequest.safeParse(JSON.parse(body));
    if (!parsed.success) return refuse(400, 'invalid-request-error', parsed.error.issues[0]?.message);
    const { name, privacy, properties } = parsed.data;
    const unknown = Object.keys(properties).find((property) => !knownProperties.has(property));
    if (unknown !== undefined) return refuse(400, 'invalid-request-error', `unknown property '${unknown}'`);
    if (rooms.has(name)) return refuse(400, 'invalid-request-error', `a room named ${name} already exists`);
    const room = { name, privacy, properties, exp: z.number().optional().parse(properties['exp']) };
    rooms.set(name, room);
    return { status: 200, json: describe(room) };
  }

  function createToken(body: string) {
    const parsed = TokenRequest.safeParse(JSON.parse(body));
    if (!parsed.success) return refuse(400, 'invalid-request-error', parsed.error.issues[0]?.message);
    const token = `eyJhbGciOiJIUzI1NiJ9.${randomUUID()}`;
    tokens.set(token, parsed.data.properties);
    return { status: 200, json: { token } };
  }

  const describe = ({ name, privacy, properties }: DailyRoom) => ({
    id: randomUUID(),
    name,
    api_created: true,
    privacy,
    url: `https://${domain}.daily.co/${name}`,
    created_at: new Date().toISOString(),
    config: properties,
  });

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    apiKey,
    domain,
    rooms: () => [...rooms.values()],
    requests,
    tokens,
    fail: (prefix, fault, times = 1) => void faults.push({ prefix, fault, times }),
    recover: () => void faults.splice(0),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function refuse(status: number, error: string, info?: string): { status: number; json: object } {
  return { status, json: { error, ...(info === undefined ? {} : { info }) } };
}
