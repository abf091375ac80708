import type { WebSocket } from 'ws';
import { fixedTranscript, isLoud, loudFrames } from './deepgram.ts';
import type { VendorRequest } from './vendor-request.ts';

/** Quiet frames after speech with which a turn ends. */
const quietFrames = 25;

/** Serves Deepgram Flux's `/v2/listen`: receives audio, and decides when a turn begins and ends. */
export function serveTurns(socket: WebSocket, visit: VendorRequest): void {
  let [loud, quiet, turn] = [0, 0, 0];
  const send = (type: string, content: object) =>
    socket.send(JSON.stringify({ type, request_id: 'stand-in', ...content }));
  const report = (event: string, transcript: string) =>
    send('TurnInfo', { event, turn_index: turn, transcript, words: [], end_of_turn_confidence: 0.9 });
  send('Connected', { sequence_id: 0 });
  socket.on('message', (data: Buffer, binary) => {
    if (!binary) {
      const message: { readonly type?: string } = JSON.parse(data.toString());
      visit.messages.push(message);
      if (message.type === 'CloseStream') socket.close(1000);
      return;
    }
    visit.audioBytes += data.length;
    if (isLoud(data)) {
      [loud, quiet] = [loud + 1, 0];
      if (loud === loudFrames) report('StartOfTurn', 'What');
      return;
    }
    quiet += 1;
    if (quiet !== quietFrames) return;
    if (loud >= loudFrames) {
      report('EndOfTurn', fixedTranscript);
      turn += 1;
    }
    loud = 0;
  });
}
