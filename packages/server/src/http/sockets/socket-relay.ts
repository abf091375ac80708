import type { RawData, WebSocket } from 'ws';
import { brokenConnectionCode, type RelayedSocketEnd } from '../../sessions/relayed-socket-end.ts';

/** High-water mark in bytes for each direction. Above it, the socket of the sender is paused. */
const highWaterBytes = 1_048_576;
/** High-water mark in messages for each direction. Needed because even empty messages take memory. */
const highWaterMessages = 4_096;

/** Interval of pings. Shorter than the idle timeouts of load balancers, usually 60 s. */
const pingMs = 20_000;
/** Intervals in a row in which a bot is silent and its machine does not respond, after which its WebSocket counts as broken. */
const maxLostIntervals = 2;

/**
 * Relays messages between two open WebSockets, in order and with back-pressure, and forwards the close code and reason.
 * Resolves with the side that closed first. Also pings the client. While the bot does not read, the service does not read from the
 * client either. In that case, only a failed write reveals that the client has disconnected.
 *
 * The bot gets no pings, because it may be busy for long. If it sends nothing, the relay asks `isBotReachable` instead: a machine that
 * vanished does not close its connections, and the kernel retransmits for up to 15 minutes.
 */
export function relayWebSockets(
  client: WebSocket,
  bot: WebSocket,
  isBotReachable: () => Promise<boolean>,
  pingEvery = pingMs,
): Promise<RelayedSocketEnd> {
  // Listen before `forward` does, because it closes the other socket, which would then seem to have closed first.
  const ended = waitForFirstClose(client, bot);
  forward(client, bot);
  forward(bot, client);
  let hasSent = true;
  let lostIntervals = 0;
  bot.on('message', () => {
    hasSent = true;
  });
  const checkBot = async () => {
    const wasSilent = !hasSent;
    hasSent = false;
    const isLost = wasSilent && !(await isBotReachable()) && !hasSent;
    lostIntervals = isLost ? lostIntervals + 1 : 0;
    if (lostIntervals === maxLostIntervals) bot.terminate();
  };
  const pings = setInterval(() => {
    if (client.readyState === client.OPEN) client.ping();
    // A failed probe, for example without a free file descriptor, says nothing about the bot.
    checkBot().catch(() => undefined);
  }, pingEvery);
  void ended.then(() => clearInterval(pings));
  return ended;
}

/**
 * Resolves with the side that closed first. A socket that has received a close frame is in the state CLOSING until its connection
 * ends, so the other side may emit `close` earlier. If both sides sent a close frame in the meantime, the client counts as first.
 */
function waitForFirstClose(client: WebSocket, bot: WebSocket): Promise<RelayedSocketEnd> {
  return new Promise((resolve) => {
    client.once('close', (code) => {
      if (bot.readyState === bot.OPEN || code !== brokenConnectionCode) resolve({ by: 'client' });
    });
    bot.once('close', (code) => {
      resolve(client.readyState === client.CLOSING ? { by: 'client' } : { by: 'bot', code });
    });
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
    // A paused WebSocket does not read its peer's close frame, so the close would complete only after a timeout.
    if (to.isPaused) to.resume();
  });
  from.on('error', () => from.terminate());
}

/** Replaces close codes that are reserved for local use and may not be sent (RFC 6455, section 7.4.1). */
function sendableCode(code: number): number {
  if (code === 1005) return 1000;
  if (code === 1006 || code === 1015) return 1011;
  return code;
}
