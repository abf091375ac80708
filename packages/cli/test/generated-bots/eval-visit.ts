import { once } from 'node:events';
import { WebSocket } from 'ws';

/**
 * Visits a bot as `pipecat eval` does, over a WebSocket with RTVI messages: listens to the greeting, sends a text, and listens to the
 * answer. Returns the kinds of all messages of the bot. Rejects if the bot closes the socket first.
 */
export async function visitByEvalTransport(url: string, text: string): Promise<readonly string[]> {
  const socket = new WebSocket(url);
  const kinds: string[] = [];
  const say = (type: string, data: object) =>
    socket.send(JSON.stringify({ label: 'rtvi-ai', type, id: `${type}-1`, data }));
  let hasAsked = false;
  socket.on('message', (message: Buffer) => {
    const { type = '' }: { readonly type?: string } = JSON.parse(message.toString());
    kinds.push(type);
    if (type !== 'bot-stopped-speaking') return;
    if (hasAsked) return socket.close(1000);
    hasAsked = true;
    say('send-text', { content: text, options: { run_immediately: true, audio_response: true } });
  });
  socket.once('open', () => {
    say('client-message', { t: 'eval-connect', d: {} });
    say('client-ready', { version: '2.0.0', about: { library: 'test', library_version: '1' } });
  });
  const closed = once(socket, 'close');
  await closed;
  const answers = kinds.filter((kind) => kind === 'bot-stopped-speaking').length;
  if (answers < 2) throw new Error(`The bot closed the socket after the messages ${kinds.join(', ')}.`);
  return kinds;
}
