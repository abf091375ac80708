import { once } from 'node:events';
import { createServer, STATUS_CODES } from 'node:http';
import { type WebSocket, WebSocketServer } from 'ws';
import { serveSpeech } from './cartesia.ts';
import { serveTranscription } from './deepgram.ts';
import { serveTurns } from './deepgram-flux.ts';
import { serveChatCompletions, serveResponsesApi } from './openai.ts';
import type { VendorBehavior } from './vendor-behavior.ts';
import type { VendorRequest } from './vendor-request.ts';

/** Stand-in vendors on one local port. They speak the vendors' protocols and need no accounts. */
export type StandInVendors = {
  readonly address: string;
  readonly visits: readonly VendorRequest[];
  /** Sets how the vendors behave from now on. Without it, nothing fails. */
  readonly behave: (behavior: VendorBehavior) => void;
  readonly close: () => Promise<void>;
};

type SocketHandler = (socket: WebSocket, visit: VendorRequest) => void;
const sockets: Readonly<Record<string, readonly [vendor: VendorRequest['vendor'], handler: SocketHandler]>> = {
  '/v1/listen': ['deepgram', serveTranscription],
  '/v2/listen': ['deepgram', serveTurns],
  '/v1/responses': ['openai-responses', serveResponsesApi],
  '/tts/websocket': ['cartesia', serveSpeech],
};

export async function startStandInVendors(): Promise<StandInVendors> {
  const visits: VendorRequest[] = [];
  let behavior: VendorBehavior = {};
  const enter = (vendor: VendorRequest['vendor'], key: string | undefined, query: URLSearchParams): VendorRequest => {
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
    serveChatCompletions(request, response, visit, behavior);
  });
  const upgrades = new WebSocketServer({ noServer: true });
  server.on('upgrade', (request, socket, head) => {
    const url = new URL(request.url ?? '', 'http://localhost');
    const place = sockets[url.pathname];
    if (place === undefined) {
      socket.destroy();
      return;
    }
    const [vendor, handler] = place;
    if (behavior.rejectsKeyOf === vendor) {
      const body = JSON.stringify({ error: 'Invalid credentials.' });
      const head = `HTTP/1.1 401 ${STATUS_CODES[401]}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}`;
      socket.end(`${head}\r\nconnection: close\r\n\r\n${body}`);
      return;
    }
    const header = request.headers[vendor === 'cartesia' ? 'x-api-key' : 'authorization'];
    upgrades.handleUpgrade(request, socket, head, (accepted) => {
      const visit = enter(vendor, String(header ?? ''), url.searchParams);
      accepted.once('close', () => {
        visit.open = false;
      });
      handler(accepted, visit);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server does not listen on a TCP port.');
  return {
    address: `127.0.0.1:${address.port}`,
    visits,
    behave: (next) => {
      behavior = next;
    },
    close: async () => {
      for (const client of upgrades.clients) client.terminate();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
