/** A minimal bot. It keeps its session open until it is stopped, and echoes requests and WebSocket messages. */
import { createServer, type ServerResponse } from 'node:http';
import { WebSocketServer } from 'ws';

// biome-ignore lint/style/noProcessEnv: a bot reads its port from its environment (docs/bot-contract.md, "Environment")
const port = Number(process.env['PORT']);
const small = '{"status":"ok"}';
const large = Buffer.alloc(65_536, 'x');
let held: { readonly sessionId: string; readonly response: ServerResponse } | null = null;

const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
const server = createServer({ requestTimeout: 0, keepAliveTimeout: 65_000 }, (request, response) => {
  const path = request.url?.split('?')[0];
  request.resume();
  switch (path) {
    case '/bot':
      held = { sessionId: String(request.headers['x-session-id']), response };
      return;
    case '/_bot/session': {
      const state = held === null ? { state: 'idle' } : { state: 'running', sessionId: held.sessionId };
      return void response.end(JSON.stringify(state));
    }
    case '/_bot/stop':
      held?.response.end('{}');
      return void response.writeHead(202).end('{}');
    case '/readyz':
    case '/small':
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(small);
    case '/large':
      return void response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(large);
    default:
      response.writeHead(404).end();
  }
});
server.on('upgrade', (request, socket, head) => {
  sockets.handleUpgrade(request, socket, head, (webSocket) => {
    webSocket.on('message', (data, binary) => webSocket.send(data, { binary }));
  });
});
server.listen(port, '127.0.0.1');
