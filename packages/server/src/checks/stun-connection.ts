import { createSocket } from 'node:dgram';
import { type EventEmitter, once } from 'node:events';
import { connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { IceUrl } from '@bothost/contract';
import {
  decodeStunResponse,
  encodeStunRequest,
  type LongTermCredential,
  measureStunMessage,
  type StunRequest,
  type StunResponse,
} from './stun-message.ts';

/** A connection to a STUN or TURN server over UDP, TCP or TLS. */
export type StunConnection = {
  /** Sends a request and resolves with its response. Rejects with `SilentServerError`, or an error of the system. */
  readonly request: (request: StunRequest, credential?: LongTermCredential | null) => Promise<StunResponse>;
  readonly close: () => void;
};

/** Thrown if a server does not respond in time. */
export class SilentServerError extends Error {
  override readonly name = 'SilentServerError';
}

/** Milliseconds to wait for a connection, and for each response. */
const timeoutMs = 4_000;
/** Milliseconds after which a request over UDP is sent again. Each further wait is twice as long (RFC 8489, section 6.2.1). */
const firstRetransmissionMs = 500;

type Transport = {
  readonly isReliable: boolean;
  readonly send: (message: Buffer) => void;
  readonly close: () => void;
};
type Listener = { readonly onMessage: (message: Buffer) => void; readonly onError: (error: Error) => void };

/** Connects to a server. Rejects with `SilentServerError`, or an error of the system or of TLS. */
export async function connectStun({ scheme, host, port, transport }: IceUrl): Promise<StunConnection> {
  const waiting = new Map<string, { resolve(response: StunResponse): void; reject(error: Error): void }>();
  let failure: Error | null = null;
  const listener: Listener = {
    onMessage: (bytes) => {
      const response = decodeStunResponse(bytes);
      if (response !== null) waiting.get(response.transactionId.toString('hex'))?.resolve(response);
    },
    onError: (error) => {
      failure = error;
      for (const { reject } of waiting.values()) reject(error);
    },
  };
  const opened =
    transport === 'udp' ? openUdp(host, port, listener) : openStream(host, port, scheme.endsWith('s'), listener);
  const { isReliable, send, close } = await opened;

  async function request(content: StunRequest, credential: LongTermCredential | null = null): Promise<StunResponse> {
    if (failure !== null) throw failure;
    const message = encodeStunRequest(content, credential);
    const id = message.subarray(8, 20).toString('hex');
    let retransmission: NodeJS.Timeout | undefined;
    const sendRepeatedly = (waitMs: number) => {
      send(message);
      if (!isReliable) retransmission = setTimeout(() => sendRepeatedly(2 * waitMs), waitMs);
    };
    let timeout: NodeJS.Timeout | undefined;
    try {
      return await new Promise<StunResponse>((resolve, reject) => {
        waiting.set(id, { resolve, reject });
        timeout = setTimeout(() => reject(new SilentServerError()), timeoutMs);
        sendRepeatedly(firstRetransmissionMs);
      });
    } finally {
      clearTimeout(retransmission);
      clearTimeout(timeout);
      waiting.delete(id);
    }
  }
  return { request, close };
}

async function openUdp(host: string, port: number, { onMessage, onError }: Listener): Promise<Transport> {
  const socket = createSocket(isIP(host) === 6 ? 'udp6' : 'udp4');
  try {
    socket.connect(port, host);
    await waitFor(socket, 'connect');
  } catch (error) {
    socket.close();
    throw error;
  }
  socket.on('message', onMessage);
  socket.on('error', onError);
  return { isReliable: false, send: (message) => socket.send(message), close: () => socket.close() };
}

async function openStream(
  host: string,
  port: number,
  isTls: boolean,
  { onMessage, onError }: Listener,
): Promise<Transport> {
  const socket = isTls
    ? connectTls({ host, port, ...(isIP(host) === 0 ? { servername: host } : {}) })
    : connectTcp({ host, port });
  try {
    await waitFor(socket, isTls ? 'secureConnect' : 'connect');
  } catch (error) {
    socket.on('error', () => undefined).destroy();
    throw error;
  }
  let received = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    received = Buffer.concat([received, bytes]);
    for (let size = measureStunMessage(received); size !== null && size <= received.length; ) {
      onMessage(received.subarray(0, size));
      received = received.subarray(size);
      size = measureStunMessage(received);
    }
  });
  socket.on('error', onError);
  socket.on('close', () => onError(new SilentServerError()));
  return { isReliable: true, send: (message) => void socket.write(message), close: () => void socket.destroy() };
}

/** Rejects with `SilentServerError` if the event, including the lookup of the name, takes too long. */
async function waitFor(socket: EventEmitter, event: string): Promise<void> {
  const signal = AbortSignal.timeout(timeoutMs);
  await once(socket, event, { signal }).catch((error: unknown) => {
    throw signal.aborted ? new SilentServerError() : error;
  });
}
