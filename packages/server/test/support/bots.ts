import { randomUUID } from 'node:crypto';
import { chmod, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ConversationLevel } from '@bothost/contract';

/** Values of `deploy.toml`. Missing values have the service's defaults. */
export type BotOptions = {
  readonly minAgents?: number;
  readonly maxAgents?: number;
  readonly websocketAuth?: 'none' | 'token';
  readonly websocketStart?: 'full' | 'minimal';
  readonly conversationLevel?: ConversationLevel;
  /** JavaScript that runs before the standard code of the test bot. */
  readonly prelude?: string;
  /** Whether `prelude` replaces the standard code of the test bot. */
  readonly alone?: boolean;
  /**
   * JavaScript that replaces the bot's code in each bot process that starts after the test called
   * `BotProjectDirectory.fall`. A test can thus break a bot after its deployment was validated.
   */
  readonly afterFall?: string;
};

export type BotProjectDirectory = {
  readonly path: string;
  readonly remove: () => Promise<void>;
  readonly fall: () => Promise<void>;
};

/**
 * Source of a bot that tests control. `POST /evaluate` evaluates its body as JavaScript. In it, `state.starts` contains the
 * requests that started sessions (`{headers, body}`), and `state.end(status, body)` ends the open session after the response of
 * this evaluation, because the service may stop the bot at once. `/echo` returns the request. `state.onSocket(socket, request)`
 * handles WebSockets, and echoes by default.
 */
const puppet = `
const http = require('node:http');
const { WebSocketServer } = require('ws');
const state = { starts: [], upgrades: [], aborted: 0, end: () => undefined, onSocket: echoSocket, onRequest: undefined };
function echoSocket(socket) {
  socket.on('message', (data, isBinary) => socket.send(data, { binary: isBinary }));
}
const sockets = new WebSocketServer({ noServer: true, maxPayload: 64 * 1024 * 1024 });
async function textOf(request) {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
const server = http.createServer(async (request, response) => {
  const path = request.url.split('?')[0];
  if (path === '/readyz') return response.end();
  if (path === '/bot') {
    state.starts.push({ headers: request.headers, body: await textOf(request) });
    state.end = (status, body) => void setImmediate(() => { response.statusCode = status; response.end(body); });
    return;
  }
  if (path === '/evaluate') {
    try { response.end(JSON.stringify((await eval(await textOf(request))) ?? null)); }
    catch (error) { response.statusCode = 500; response.end(error.code ?? String(error)); }
    return;
  }
  if (path === '/echo') {
    const { method, url, headers, rawHeaders } = request;
    const body = await textOf(request);
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify({ method, url, headers, rawHeaders, body }));
  }
  if (state.onRequest !== undefined) return state.onRequest(request, response);
  response.statusCode = 404;
  response.end('the bot knows no such path');
});
server.on('upgrade', (request, socket, head) => {
  state.upgrades.push({ url: request.url, headers: request.headers });
  if (state.refuse !== undefined) return socket.end(state.refuse);
  sockets.handleUpgrade(request, socket, head, (client) => state.onSocket(client, request));
});
server.listen(process.env.BOT_SOCKET ?? { port: Number(process.env.PORT), host: process.env.BOT_HOST });
`;

/** Writes a bot into its own directory, with a copy of the `ws` package that the service uses. */
export async function writeBot(name: string, options: BotOptions = {}): Promise<BotProjectDirectory> {
  const root = await mkdtemp(join(tmpdir(), 'bothost-bot-'));
  await chmod(root, 0o711);
  const path = join(root, name);
  await mkdir(join(path, 'node_modules'), { recursive: true });
  const { minAgents = 0, maxAgents = 5, websocketAuth = 'token', websocketStart = 'full' } = options;
  const level = options.conversationLevel;
  const conversation = level === undefined ? '' : `[conversation]\nlevel = "${level}"\n`;
  await writeFile(
    join(path, 'deploy.toml'),
    `agent_name = "${name}"\nwebsocket_auth = "${websocketAuth}"\nwebsocket_start = "${websocketStart}"\n[scaling]\nmin_agents = ${minAgents}\nmax_agents = ${maxAgents}\n${conversation}`,
  );
  await writeFile(join(path, 'package.json'), JSON.stringify({ name, main: 'main.js', version: randomUUID() }));
  const ws = dirname(createRequire(import.meta.url).resolve('ws/package.json'));
  await cp(ws, join(path, 'node_modules/ws'), { recursive: true });
  const mark = join(root, 'fallen');
  const fallen = `if (require('node:fs').existsSync(${JSON.stringify(mark)})) { ${options.afterFall ?? ''}; return; }`;
  const main = options.alone === true ? '' : puppet;
  await writeFile(join(path, 'main.js'), `${fallen}\n${options.prelude ?? ''}\n${main}`);
  return { path, fall: () => writeFile(mark, ''), remove: () => rm(root, { recursive: true, force: true }) };
}
