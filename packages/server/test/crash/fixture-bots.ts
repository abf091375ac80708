import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createBotEventFile } from './bot-event-file.ts';
import { writeAgent } from './crash-service.ts';

export const botEventFileName = 'bot-events';
/** The bundle of the parrot example bot. */
export const builtParrot = fileURLToPath(new URL('../../../../examples/parrot/dist/main.js', import.meta.url));

/** Appends a line to the event file with one system call, so that lines of several bots are not mixed. */
const fileEventsSource = (path: string) => `
import { appendFileSync } from 'node:fs';
export const write = (what, session) => appendFileSync(${JSON.stringify(path)}, JSON.stringify({
  what, session, instance: process.env.BOTHOST_INSTANCE, at: Date.now() }) + '\\n');
`;

/**
 * Sends each line as a datagram to a port of the machine, because a container does not see the event file. The system call is
 * made before \`write\` returns, so a bot may kill itself afterwards.
 */
const datagramEventsSource = (port: number) => `
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
const findGateway = () => {
  const routes = readFileSync('/proc/net/route', 'utf8').split('\\n').map((line) => line.split('\\t'));
  const [, , gateway] = routes.find(([, destination]) => destination === '00000000');
  return Buffer.from(gateway, 'hex').reverse().join('.');
};
const socket = createSocket('udp4');
// The pods of a fake cluster are processes of the machine.
socket.connect(${port}, process.env.BOT_HOST.startsWith('127.') ? '127.0.0.1' : findGateway());
await once(socket, 'connect');
export const write = (what, session) => socket.send(JSON.stringify({
  what, session, instance: process.env.BOTHOST_INSTANCE, at: Date.now() }) + '\\n');
`;

/** The parrot example bot, instrumented to record the calls of its handlers and its responses. */
const spySource = `
import http from 'node:http';
import { write } from './events.js';
const emit = http.Server.prototype.emit;
http.Server.prototype.emit = function (event, request, other, ...rest) {
  const session = request?.headers?.['x-session-id'];
  const path = request?.url?.split('?')[0];
  if (event === 'request' && request.method === 'POST' && path === '/bot') {
    write('entered', session);
    const { end } = other;
    other.end = function (...parts) { write('ended', session); return end.apply(this, parts); };
  }
  if (event === 'upgrade' && path === '/ws') {
    write('entered', session);
    other.once('close', () => write('ended', session));
  }
  return emit.call(this, event, request, other, ...rest);
};
`;

/**
 * A bot that ends its session as the request body `{ end, milliseconds }` says: `leave` responds with 200, `fail` responds with
 * 500, and `crash` kills the bot. If `reports` is false, the bot does not report the state of its session, and exits after the
 * session, which SIGTERM does not end, as in images of Pipecat. `first` is JavaScript that runs before the bot.
 */
const workerSource = (reports: boolean, first: string) => `
import http from 'node:http';
import { write } from './events.js';
${first}
const known = { state: 'idle', sessionId: null };
const waiting = new Set();
const now = () => new Date().toISOString();
const server = http.createServer(async (request, response) => {
  const url = new URL(request.url, 'http://bot');
  const answer = (status, body = {}) => { response.statusCode = status; response.end(JSON.stringify(body)); };
  if (url.pathname === '/readyz') return answer(200);
  if (url.pathname === '/_bot/session' && ${reports}) {
    if (known.state === 'running' && url.searchParams.get('wait') !== '0') {
      await new Promise((resolve) => { waiting.add(resolve); setTimeout(resolve, 1000 * url.searchParams.get('wait')); });
    }
    return answer(200, known);
  }
  if (url.pathname !== '/bot') return answer(404);
  const session = request.headers['x-session-id'];
  write('entered', session);
  if (known.state !== 'idle') return answer(409);
  Object.assign(known, { state: 'running', sessionId: session, startedAt: now() });
  let text = '';
  for await (const chunk of request) text += chunk;
  const { end, milliseconds } = JSON.parse(text);
  await new Promise((resolve) => setTimeout(resolve, milliseconds));
  write('ended', session);
  if (end === 'crash') process.kill(process.pid, 'SIGKILL');
  const status = end === 'leave' ? 200 : 500;
  Object.assign(known, { state: 'ended', status, endedAt: now() });
  for (const resolve of waiting) resolve();
  answer(status);
  if (!${reports}) setTimeout(() => process.exit(end === 'leave' ? 0 : 1), 100);
});
server.listen(Number(process.env.PORT), process.env.BOT_HOST);
if (!${reports}) process.on('SIGTERM', () => { if (known.state === 'idle') process.exit(); });
`;

/** Starts a child that the service must find and stop, although it has its own process session and an empty environment. */
const startChildSource = (mark: string) => `
import { spawn } from 'node:child_process';
spawn('/bin/sh', ['-c', 'sleep 3600; exit 0', ${JSON.stringify(mark)}], { detached: true, stdio: 'ignore', env: {} }).unref();
`;

type Files = Readonly<Record<string, string>>;

const createParrot = (): Files => ({
  'spy.js': spySource,
  'main.js': "import './spy.js';\nawait import('./parrot.js');\n",
  'parrot.js': readFileSync(builtParrot, 'utf8'),
});

/** Writes the agents and the event file of the crash tests into `directory`. Returns the directories of the agents. */
export function writeFixtureBots(directory: string): readonly string[] {
  const eventFile = join(directory, botEventFileName);
  createBotEventFile(eventFile);
  const agent = (name: string, warm: number, files: Files) =>
    writeAgent(directory, name, `min_agents = ${warm}`, { 'events.js': fileEventsSource(eventFile), ...files });
  const first = startChildSource(directory);
  return [
    agent('parrot', 1, createParrot()),
    agent('worker', 1, { 'main.js': workerSource(true, first) }),
    agent('mute', 0, { 'main.js': workerSource(false, first) }),
  ];
}

/** The files of an image with all agents of the crash tests. The program of an agent is `NAME/main.js`. */
export function createFixtureImageFiles(eventPort: number): Files {
  const bots = {
    parrot: createParrot(),
    worker: { 'main.js': workerSource(true, '') },
    mute: { 'main.js': workerSource(false, '') },
  };
  const files = Object.entries(bots).flatMap(([name, bot]) =>
    Object.entries({ 'events.js': datagramEventsSource(eventPort), ...bot }).map(([file, text]) => [
      `${name}/${file}`,
      text,
    ]),
  );
  return { 'package.json': JSON.stringify({ type: 'module' }), ...Object.fromEntries(files) };
}
