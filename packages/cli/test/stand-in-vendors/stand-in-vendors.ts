import { once } from 'node:events';
import { createServer } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { speak } from './cartesia.ts';
import { hear } from './deepgram.ts';
import { chat, converse } from './openai.ts';
import type { Visit } from './visit.ts';

/** Stand-in vendors on a port of this machine. They speak the protocols of the vendors and need no account. */
export type StandIns = {
  /** `host:port`. */
  readonly address: string;
  readonly visits: readonly Visit[];
  readonly close: () => Promise<void>;
};

type Converses = (socket: WebSocket, visit: Visit) => void;
const sockets: Readonly<Record<string, readonly [vendor: Visit['vendor'], converses: Converses]>> = {
  '/v1/listen': ['deepgram', hear],
  '/v1/responses': ['openai-responses', converse],
  '/tts/websocket': ['cartesia', speak],
};

export async function openStandIns(): Promise<StandIns> {
  const visits: Visit[] = [];
  const enter = (vendor: Visit['vendor'], key: string | undefined, query: URLSearchParams): Visit => {
    const visit = {
      vendor,
      key: (key ?? '').replace(/^(?:Bearer|Token) /, ''),
      query,
      messages: [],
      audioBytes: 0,
      open: true,
    };
    visits.push(visit);
    return visit;
  };
  const server = createServer((request, response) => {
    if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
      response.writeHead(404).end();
      return;
    }
    const visit = enter('openai', request.headers.authorization, new URLSearchParams());
    response.once('close', () => {
      visit.open = false;
    });
    chat(request, response, visit);
  });
  const upgrades = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    const url = new URL(request.url ?? '', 'http://localhost');
    const place = sockets[url.pathname];
    if (place === undefined) {
      socket.destroy();
      return;
    }
    const [vendor, converses] = place;
    const header = request.headers[vendor === 'cartesia' ? 'x-api-key' : 'authorization'];
    upgrades.handleUpgrade(request, socket, head, (accepted) => {
      const visit = enter(vendor, String(header ?? ''), url.searchParams);
      accepted.once('close', () => {
        visit.open = false;
      });
      converses(accepted, visit);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    address: `127.0.0.1:${address.port}`,
    visits,
    close: async () => {
      for (const client of upgrades.clients) client.terminate();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
