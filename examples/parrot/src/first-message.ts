import type { RawData } from 'ws';
import { type Conversation, runConversation } from './conversation.ts';
import { answerCall } from './phone-call.ts';

/**
 * Talks over an accepted `/ws` socket. The first message shows the kind of client: Pipecat's frames are bytes, and carriers send
 * text.
 */
export function handleFirstMessage(conversation: Conversation): void {
  const { socket, session, log } = conversation;
  socket.on('error', (cause) => log(`socket error: ${cause.message}`));
  socket.once('message', (data: RawData, isBinary: boolean) => {
    if (isBinary) runConversation(conversation);
    else answerCall(conversation);
    socket.emit('message', data, isBinary);
  });
  log(`session ${session.id} started over a WebSocket`);
}
