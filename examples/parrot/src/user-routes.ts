import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { setInterval } from 'node:timers/promises';
import type { RawData, WebSocket } from 'ws';
import type { ParrotContext } from './bot-routes.ts';
import { generateLoad } from './burn.ts';
import { readJsonObject, readNumberField, sendJson } from './http-exchange.ts';

/** `GET /` and `GET /hello`: return the session id and the uptime. */
export function helloRoute(context: ParrotContext, response: ServerResponse): void {
  sendJson(response, 200, {
    hello: 'I am the parrot',
    sessionId: context.slot.latest()?.id ?? null,
    uptimeSeconds: Math.round(process.uptime() * 1000) / 1000,
  });
}

/** `GET /entered`: returns the time at which the handler of the running session, or else of the last session, was called. */
export function handlerEntryTimeRoute(context: ParrotContext, response: ServerResponse): void {
  const session = context.slot.latest();
  sendJson(response, 200, { sessionId: session?.id ?? null, enteredAtMs: session?.enteredAtMs ?? null });
}

/** `POST /echo`: sends the bytes of the request back as they arrive, with the same content type. */
export async function echoRoute(request: IncomingMessage, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': request.headers['content-type'] ?? 'application/octet-stream' });
  await pipeline(request, response);
}

/** `GET /events`: sends a server-sent event each second, until the client disconnects or the session ends. */
export async function eventsRoute(context: ParrotContext, response: ServerResponse): Promise<void> {
  const session = context.slot.running();
  const disconnect = new AbortController();
  response.once('close', () => disconnect.abort());
  const signal = AbortSignal.any([
    disconnect.signal,
    context.closing,
    ...(session === undefined ? [] : [session.signal]),
  ]);
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  const send = (count: number) =>
    response.write(`id: ${count}\ndata: ${JSON.stringify({ count, sessionId: session?.id ?? null })}\n\n`);
  let count = 1;
  send(count);
  try {
    for await (const _ of setInterval(1000, undefined, { signal })) {
      count += 1;
      send(count);
    }
  } catch (cause) {
    if (!signal.aborted) throw cause;
  }
  response.end();
}

/** `WS /echo-socket`: sends every message back, text as text and bytes as bytes. */
export function echoSocketRoute(socket: WebSocket): void {
  socket.on('message', (data: RawData, isBinary: boolean) => socket.send(data, { binary: isBinary }));
}

/** `POST /burn {cpuMillicores, megabytes, seconds}`: uses CPU and memory, then returns how much it actually used. */
export async function generateLoadRoute(
  context: ParrotContext,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readJsonObject(request, 4096);
  const load = {
    cpuMillicores: readNumberField(body, 'cpuMillicores', { min: 0, max: 16_000, fallback: 0 }),
    megabytes: readNumberField(body, 'megabytes', { min: 0, max: 4000, fallback: 0 }),
    seconds: readNumberField(body, 'seconds', { min: 0, max: 3600, fallback: 10 }),
  };
  context.log(`burning ${load.cpuMillicores} millicores and ${load.megabytes} MB for ${load.seconds} s`);
  response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
  const signal = AbortSignal.any([context.closing, context.slot.running()?.signal ?? context.closing]);
  const cpuMilliseconds = await generateLoad(load, signal);
  response.end(JSON.stringify({ ...load, cpuMilliseconds }));
}
