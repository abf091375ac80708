import type { WebSocket } from 'ws';
import type { VendorRequest } from './vendor-request.ts';

/** The transcript of any speech that is long and loud enough. */
export const fixedTranscript = 'What is the capital of France?';
/**
 * A frame is loud if the mean amplitude of its 16-bit samples exceeds `loudness`. Audio with at least `loudFrames` loud frames
 * counts as speech.
 */
export const loudFrames = 20;
const loudness = 300;

/** Serves Deepgram's `/v1/listen`: receives audio, sends results, and answers every `Finalize`. */
export function serveTranscription(socket: WebSocket, visit: VendorRequest): void {
  let loud = 0;
  socket.on('message', (data: Buffer, binary) => {
    if (binary) {
      visit.audioBytes += data.length;
      if (isLoud(data)) loud += 1;
      if (loud === loudFrames) socket.send(result('What is', { final: false, finalized: false }));
      return;
    }
    const message: unknown = JSON.parse(data.toString());
    visit.messages.push(message);
    const type = typeof message === 'object' && message !== null && 'type' in message ? message.type : null;
    if (type === 'Finalize') {
      socket.send(result(loud >= loudFrames ? fixedTranscript : '', { final: true, finalized: true }));
      loud = 0;
    }
    if (type === 'CloseStream') socket.close(1000);
  });
}

/** Whether a frame of 16-bit samples is speech rather than silence. */
export function isLoud(frame: Buffer): boolean {
  const samples = Math.floor(frame.length / 2);
  let sum = 0;
  for (let index = 0; index < samples; index += 1) sum += Math.abs(frame.readInt16LE(index * 2));
  return samples > 0 && sum / samples > loudness;
}

function result(transcript: string, kind: { final: boolean; finalized: boolean }): string {
  const words = transcript.split(' ').filter((word) => word !== '');
  return JSON.stringify({
    type: 'Results',
    channel_index: [0, 1],
    start: 0,
    duration: 1,
    is_final: kind.final,
    speech_final: kind.final,
    from_finalize: kind.finalized,
    channel: {
      alternatives: [
        {
          transcript,
          confidence: 0.99,
          words: words.map((word, index) => ({
            word: word.toLowerCase().replace(/\W/g, ''),
            start: index * 0.2,
            end: index * 0.2 + 0.2,
            confidence: 0.99,
            punctuated_word: word,
          })),
        },
      ],
    },
    metadata: {
      request_id: 'stand-in',
      model_uuid: 'stand-in',
      model_info: { name: 'stand-in', version: '1', arch: 'none' },
    },
  });
}
