import { on, once } from 'node:events';
import { WebSocket } from 'ws';

/** Has a session with the parrot as Pipecat's web client does: waits for the greeting, types one line, and waits for the answer. */
export async function typeToParrot(
  { origin, publicKey }: { readonly origin: string; readonly publicKey: string },
  text: string,
): Promise<void> {
  const started = await fetch(`${origin}/v1/public/parrot/start`, {
    method: 'POST',
    headers: { authorization: `Bearer ${publicKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ transport: 'websocket' }),
  });
  const { wsUrl, token } = (await started.json()) as { wsUrl: string; token: string };
  const socket = new WebSocket(`${wsUrl}/${token}`);
  await once(socket, 'open');
  const frames = on(socket, 'message');
  const send = (type: string, data: object) => socket.send(encodeMessage({ label: 'rtvi-ai', id: '1', type, data }));
  const receive = async (type: string) => {
    let frame = '';
    while (!frame.includes(`"${type}"`)) frame = String((await frames.next()).value[0]);
  };
  send('client-ready', { version: '2.1.0' });
  await receive('bot-stopped-speaking');
  send('send-text', { content: text });
  await receive('bot-stopped-speaking');
  socket.close();
  await once(socket, 'close');
}

/** Encodes a frame of Pipecat's protobuf protocol with one message (field 4, with its JSON in field 1) of at most 120 bytes. */
function encodeMessage(message: object): Buffer {
  const json = Buffer.from(JSON.stringify(message));
  return Buffer.concat([Buffer.from([0x22, json.length + 2, 0x0a, json.length]), json]);
}
