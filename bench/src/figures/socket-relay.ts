import { setInterval } from 'node:timers/promises';
import { request } from 'undici';
import { type RawData, WebSocket } from 'ws';
import { type BenchmarkedService, withService } from '../benchmarked-service.ts';
import {
  type Benchmark,
  type BenchmarkFigure,
  type BenchmarkOptions,
  formatMilliseconds,
  formatPercentOfCore,
} from '../figure.ts';
import { measureCpuShare, readCpuSeconds } from '../process-usage.ts';
import { quantile } from '../quantile.ts';
import { startSession, waitForWarmInstances } from '../sessions.ts';

const messagesPerSecond = 50;
/** Size of a message with 20 ms of 16 kHz mono audio. */
const messageBytes = 640;
const socketsOfSession = 200;
const sessionsOfSockets = 20;

const echo = { name: 'echo', bot: 'tiny', minAgents: 1, maxAgents: 2, profile: 'agent-3x' } as const;
const talk = { name: 'talk', bot: 'tiny', minAgents: sessionsOfSockets, maxAgents: sessionsOfSockets } as const;

/**
 * Measures round trips of WebSocket messages in two cases: many sockets of one session through the session proxy, which only
 * forwards bytes, and many sessions with one socket each through `/ws/generic`, which parses WebSocket frames.
 */
export const socketRelayBench: Benchmark = {
  name: 'socket-relay',
  run: (options) =>
    withService({ agents: [echo, talk] }, async (service) => {
      await waitForWarmInstances(service, echo.name, 1);
      await waitForWarmInstances(service, talk.name, sessionsOfSockets);
      const session = await startSession(service, echo.name);
      const direct = `ws://${session.host}:${session.port}/echo`;
      const proxied = `${service.origin.replace('http', 'ws')}/v1/public/${echo.name}/sessions/${session.id}/echo`;
      const headers = { authorization: `Bearer ${service.publicKey}` };
      const open = (url: string, count: number) => openAll(Array.from({ length: count }, () => ({ url, headers })));

      const straight = await exchange(service, await open(direct, socketsOfSession), options);
      const spliced = await exchange(service, await open(proxied, socketsOfSession), options);
      const straightFew = await exchange(service, await open(direct, sessionsOfSockets), options);
      const starts = await Promise.all(Array.from({ length: sessionsOfSockets }, () => startSocket(service)));
      const relayed = await exchange(service, await openAll(starts), options);
      options.report(
        figureOf(`${socketsOfSession} sockets of one session`, spliced, straight),
        figureOf(`${sessionsOfSockets} sessions at /ws/generic`, relayed, straightFew),
      );
    }),
};

type Exchange = { readonly cpu: number; readonly latencies: readonly number[] };

function figureOf(what: string, ours: Exchange, straight: Exchange): BenchmarkFigure {
  const times = ({ latencies }: Exchange) =>
    `p50 ${formatMilliseconds(quantile(latencies, 0.5))}, p99 ${formatMilliseconds(quantile(latencies, 0.99))}`;
  return {
    what: `WebSocket relay, ${what}, ${messagesPerSecond} messages/s each`,
    ours: `${formatPercentOfCore(ours.cpu)}, ${times(ours)}`,
    reference: `${times(straight)} direct`,
    ratio: null,
    limit: null,
  };
}

type Address = { readonly url: string; readonly headers: Record<string, string> };

async function startSocket(service: BenchmarkedService): Promise<Address> {
  const answer = await request(`${service.origin}/v1/public/${talk.name}/start`, {
    method: 'POST',
    headers: { authorization: `Bearer ${service.publicKey}`, 'content-type': 'application/json' },
    body: '{"transport":"websocket"}',
  });
  // The agent requires no token.
  const { wsUrl } = (await answer.body.json()) as { wsUrl: string };
  return { url: wsUrl, headers: {} };
}

function openAll(addresses: readonly Address[]): Promise<WebSocket[]> {
  return Promise.all(
    addresses.map(
      ({ url, headers }) =>
        new Promise<WebSocket>((resolve, reject) => {
          const socket = new WebSocket(url, { headers, perMessageDeflate: false });
          socket.once('open', () => resolve(socket));
          socket.once('error', reject);
        }),
    ),
  );
}

/**
 * Sends messages on all sockets at a steady rate. Sends on different sockets are spread evenly over time. Each message contains
 * its send time.
 */
async function exchange(
  service: BenchmarkedService,
  sockets: readonly WebSocket[],
  options: BenchmarkOptions,
): Promise<Exchange> {
  const latencies: number[] = [];
  let sent = 0;
  let complete: () => void = () => undefined;
  for (const socket of sockets) {
    socket.on('message', (data: RawData) => {
      latencies.push(performance.now() - (data as Buffer).readDoubleBE(0));
      if (latencies.length === sent) complete();
    });
  }
  const seconds = options.quick ? 3 : 10;
  const ticksPerSecond = 250;
  const used = () => readCpuSeconds(service.pid);
  const cpu = await measureCpuShare(used, async () => {
    const begin = performance.now();
    for await (const _ of setInterval(1000 / ticksPerSecond)) {
      const elapsed = Math.min(performance.now() - begin, seconds * 1000);
      // Send all messages whose send time has passed. This keeps the average rate even if the timer fires late.
      const due = Math.floor((elapsed / 1000) * messagesPerSecond * sockets.length);
      for (; sent < due; sent++) sockets[sent % sockets.length]?.send(stamped());
      if (elapsed >= seconds * 1000) break;
    }
    if (latencies.length < sent) {
      await new Promise<void>((resolve, reject) => {
        complete = resolve;
        for (const socket of sockets)
          socket.once('close', () => reject(new Error('A socket closed during the measurement.')));
      });
    }
  });
  const closed = sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
  for (const socket of sockets) socket.close();
  await Promise.all(closed);
  return { cpu, latencies };
}

function stamped(): Buffer {
  const message = Buffer.alloc(messageBytes);
  message.writeDoubleBE(performance.now());
  return message;
}
