import { on, once } from 'node:events';
import { WebSocket } from 'ws';

type Service = { readonly origin: string; readonly publicKey: string };

/** A session with the parrot over a WebSocket, as Pipecat's web client has it. */
export type ParrotCall = {
  readonly sessionId: string;
  readonly type: (text: string) => void;
  /** Reads until the parrot sends a message that contains a text. */
  readonly receive: (text: string) => Promise<void>;
  readonly hangUp: () => Promise<void>;
};

export async function callParrot({ origin, publicKey }: Service): Promise<ParrotCall> {
  const started = await fetch(`${origin}/v1/public/parrot/start`, {
    method: 'POST',
    headers: { authorization: `Bearer ${publicKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ transport: 'websocket' }),
  });
  const { sessionId, wsUrl, token } = (await started.json()) as { sessionId: string; wsUrl: string; token: string };
  const socket = new WebSocket(`${wsUrl}/${token}`);
  await once(socket, 'open');
  const frames = on(socket, 'message');
  const send = (type: string, data: object) => socket.send(encodeMessage({ label: 'rtvi-ai', id: '1', type, data }));
  send('client-ready', { version: '2.1.0' });
  return {
    sessionId,
    type: (text) => send('send-text', { content: text }),
    receive: async (text) => {
      let frame = '';
      while (!frame.includes(text)) frame = String((await frames.next()).value[0]);
    },
    hangUp: async () => {
      socket.close();
      await once(socket, 'close');
    },
  };
}

/** Has a session with the parrot: waits for the greeting, types one line, and waits for the answer. */
export async function typeToParrot(service: Service, text: string): Promise<void> {
  const call = await callParrot(service);
  await call.receive('"bot-stopped-speaking"');
  call.type(text);
  await call.receive('"bot-stopped-speaking"');
  await call.hangUp();
}

/** Encodes a frame of Pipecat's protobuf protocol with one message (field 4, with its JSON in field 1) of at most 120 bytes. */
function encodeMessage(message: object): Buffer {
  const json = Buffer.from(JSON.stringify(message));
  return Buffer.concat([Buffer.from([0x22, json.length + 2, 0x0a, json.length]), json]);
}
