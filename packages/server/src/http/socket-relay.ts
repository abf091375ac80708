import type { RawData, WebSocket } from 'ws';

/** So much may wait in one direction before the other side is no longer read. */
const highWaterBytes = 1_048_576;

/**
 * Relays two open WebSockets: messages as they are, in order, with back-pressure; close code and reason passed on. Resolves
 * when either has closed. Pings are answered on each leg by itself (bot contract 4.3).
 */
export function relay(client: WebSocket, bot: WebSocket): Promise<void> {
  forward(client, bot);
  forward(bot, client);
  return new Promise((resolve) => {
    client.once('close', () => resolve());
    bot.once('close', () => resolve());
  });
}

function forward(from: WebSocket, to: WebSocket) {
  from.on('message', (data: RawData, isBinary: boolean) => {
    if (to.readyState !== to.OPEN) return;
    to.send(data, { binary: isBinary }, () => {
      if (from.isPaused && to.bufferedAmount < highWaterBytes) from.resume();
    });
    if (to.bufferedAmount >= highWaterBytes) from.pause();
  });
  from.on('close', (code, reason) => {
    if (to.readyState === to.OPEN) to.close(sendableCode(code), reason);
    // A peer that does not answer the closing handshake is not waited for.
    if (to.isPaused) to.resume();
  });
  from.on('error', () => from.terminate());
}

/** Codes that say what was seen and may not be sent (RFC 6455 7.4.1). */
function sendableCode(code: number): number {
  if (code === 1005) return 1000;
  if (code === 1006 || code === 1015) return 1011;
  return code;
}
