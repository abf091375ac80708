import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

/** Cold starts that last as long as a test wants. */
export type Gate = {
  /** JavaScript for the beginning of a bot: it listens when the gate lets it. */
  readonly prelude: string;
  /** From now on bots wait; before, they pass. */
  readonly shut: () => void;
  /** The next bot that waits: it goes on with `go`, and is gone with `die`. */
  readonly next: () => Promise<(word: 'go' | 'die') => void>;
  readonly close: () => void;
};

/** Opens a gate that bots ask, each when it is about to listen. */
export async function openGate(): Promise<Gate> {
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
