import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** Delays cold starts of bots for as long as a test needs. */
export type BotColdStartGate = {
  /** JavaScript that runs at the start of a bot and delays `listen` until the gate allows it. */
  readonly prelude: string;
  readonly shut: () => void;
  /** Resolves when a bot waits at the gate. The returned function makes this bot listen (`go`) or exit (`die`). */
  readonly next: () => Promise<(word: 'go' | 'die') => void>;
  readonly close: () => void;
};

/** Opens a gate to which every bot connects before it listens. */
export async function createBotColdStartGate(): Promise<BotColdStartGate> {
  let isShut = false;
  const waiting: Socket[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    if (!isShut) return void socket.write('go');
    waiting.push(socket);
    server.emit('waiting');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    prelude: `
      const { connect } = require('node:net');
      const { Server } = require('node:http');
      const listen = Server.prototype.listen;
      Server.prototype.listen = function (...address) {
        connect(${(server.address() as AddressInfo).port}, '127.0.0.1').once('data', (word) =>
          String(word) === 'die' ? process.exit(3) : listen.apply(this, address));
        return this;
      };`,
    shut: () => {
      isShut = true;
    },
    next: async () => {
      if (waiting.length === 0) await once(server, 'waiting');
      const socket = waiting.shift();
      return (word) => void socket?.write(word);
    },
    close: () => {
      for (const socket of waiting) socket.destroy();
      server.close();
    },
  };
}
