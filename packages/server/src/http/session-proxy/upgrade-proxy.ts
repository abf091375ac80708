import { type IncomingMessage, request } from 'node:http';
import type { Duplex } from 'node:stream';
import { createApiError } from '@bothost/contract';
import type { BotAddress } from '../../instances/address.ts';
import { createRequestOptions } from '../../instances/connect.ts';
import { readBearerToken } from '../requests/bearer.ts';
import { endWhenIdle } from '../requests/end-when-idle.ts';
import { refuseUpgrade } from '../requests/failure-response.ts';
import { createBotRequestHeaders, isResponseHeaderForwarded } from '../requests/forwarded-headers.ts';
import { findQueryField, removeQueryFields } from '../requests/query-fields.ts';
import type { SessionPath } from './session-path.ts';
import { authorizeSessionAccess, lastBytesMs, locateSession, type ProxyContext } from './session-proxy.ts';

/**
 * Forwards a client's WebSocket upgrade request to the bot of a session. After the bot has responded with status 101, forwards
 * the bytes of both connections unchanged. Browsers cannot set headers on a WebSocket, so the credential is also accepted
 * as `?access_token=` (RFC 6750, section 2.3). This parameter is not forwarded to the bot.
 */
export async function proxyUpgrade(
  context: ProxyContext,
  incoming: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  path: SessionPath,
  requestId: string,
): Promise<void> {
  try {
    const { target, key } = withoutKey(path.target);
    const organizationId = await authorizeSessionAccess(context, readBearerToken(incoming) ?? key, path);
    const address = await locateSession(context, incoming, path, organizationId);
    await splice(context, incoming, socket, head, { ...path, target }, address);
  } catch (error) {
    const known = context.toFailure(error);
    context.telemetry.proxied('websocket', known.reason);
    refuseUpgrade(socket, known, requestId);
  }
}

const keyField = 'access_token';

function withoutKey(target: string): { target: string; key: string | null } {
  const start = target.indexOf('?');
  if (start < 0) return { target, key: null };
  const query = target.slice(start);
  return { target: target.slice(0, start) + removeQueryFields(query, keyField), key: findQueryField(query, keyField) };
}

function splice(
  context: ProxyContext,
  incoming: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  path: SessionPath,
  address: BotAddress,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = createBotRequestHeaders(incoming.headers, path.sessionId, context.resolveClient(incoming));
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket' };
    const sent = request({
      ...createRequestOptions(address),
      path: path.target,
      method: 'GET',
      headers: { ...headers, ...upgrade },
    });
    // A bot whose network has vanished does not end its connections.
    const removeListener = context.sessionAddresses.onUnreachable(path.sessionId, () =>
      socket.once(
        'close',
        endWhenIdle(incoming.socket, lastBytesMs, () => sent.socket?.destroy()),
      ),
    );
    socket.on('close', () => {
      removeListener();
      sent.destroy();
    });
    sent.on('error', (error) => reject(createApiError('bot-unreachable', { cause: error })));
    sent.on('response', (answer) => {
      // The bot rejected the upgrade, so forward its status and body.
      context.telemetry.proxied('websocket', 'refused-by-bot');
      socket.write(
        `HTTP/1.1 ${answer.statusCode ?? 502} ${answer.statusMessage ?? ''}\r\n${rawHeaders(answer)}connection: close\r\n\r\n`,
      );
      answer.on('error', () => socket.destroy());
      answer.pipe(socket);
      resolve();
    });
    sent.on('upgrade', (answer, upstream, upstreamHead) => {
      context.telemetry.proxied('websocket', 'answered');
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${rawHeaders(answer, true)}\r\n`);
      if (upstreamHead.length > 0) socket.write(upstreamHead);
      if (head.length > 0) upstream.write(head);
      join(socket, upstream);
      resolve();
    });
    sent.end();
  });
}

function join(a: Duplex, b: Duplex) {
  for (const [from, to] of [
    [a, b],
    [b, a],
  ] as const) {
    from.pipe(to);
    from.on('error', () => to.destroy());
    // When one socket closes, end the other one instead of destroying it, so that it still sends its buffered bytes.
    from.on('close', () => to.end());
  }
}

function rawHeaders(answer: IncomingMessage, upgrade = false): string {
  let lines = upgrade ? 'connection: Upgrade\r\nupgrade: websocket\r\n' : 'content-security-policy: sandbox\r\n';
  for (let index = 0; index + 1 < answer.rawHeaders.length; index += 2) {
    const [name = '', value = ''] = answer.rawHeaders.slice(index, index + 2);
    if (isResponseHeaderForwarded(name.toLowerCase())) lines += `${name}: ${value}\r\n`;
  }
  return lines;
}
