import type { RawData, WebSocket } from 'ws';

/** So much may wait in one direction before the other side is no longer read. */
const highWaterBytes = 1_048_576;
/** And so many messages: each takes memory beside its bytes, an empty one too. */
const highWaterMessages = 4_096;

/** Below the idle time-outs of load balancers, 60 s as a rule. */
const pingMilliseconds = 20_000;

/**
 * Relays two open WebSockets: messages as they are, in order, with back-pressure; close code and reason passed on. Resolves
 * when either has closed. Pings are answered on each leg by itself (bot contract 4.3). The client is pinged: one that went
 * away while the bot did not read is not read either, and only a write can tell.
 */
export function relay(client: WebSocket, bot: WebSocket, pingEvery = pingMilliseconds): Promise<void> {
  forward(client, bot);
  forward(bot, client);
  const pings = setInterval(() => {
    if (client.readyState === client.OPEN) client.ping();
  }, pingEvery);
  return new Promise((resolve) => {
    const end = () => {
      clearInterval(pings);
      resolve();
    };
    client.once('close', end);
    bot.once('close', end);
  });
}

function forward(from: WebSocket, to: WebSocket) {
  let waiting = 0;
  const isFull = () => waiting >= highWaterMessages || to.bufferedAmount >= highWaterBytes;
  from.on('message', (data: RawData, isBinary: boolean) => {
    if (to.readyState !== to.OPEN) return;
    waiting += 1;
    to.send(data, { binary: isBinary }, () => {
      waiting -= 1;
      if (from.isPaused && !isFull()) from.resume();
    });
    if (isFull()) from.pause();
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
