import type { WebSocket } from 'ws';
import type { VendorRequest } from './vendor-request.ts';

/** The synthesized speech is a tone of this pitch in hertz, so that tests recognize it. */
export const pitchHertz = 440;
/** Seconds of synthesized audio: per character of a sentence, at most per sentence, and at most in one WebSocket message. */
const [perLetter, longest, perChunk] = [0.05, 2, 0.2];

type SpeechRequest = {
  readonly transcript?: string;
  readonly continue?: boolean;
  readonly cancel?: boolean;
  readonly context_id: string;
  readonly output_format?: { readonly sample_rate: number };
};

/** Serves Cartesia's `/tts/websocket`: receives a sentence, and sends the times of its words and raw audio. */
export function serveSpeech(socket: WebSocket, visit: VendorRequest): void {
  const spoken = new Map<string, number>();
  socket.on('message', (data: Buffer) => {
    const request: SpeechRequest = JSON.parse(data.toString());
    visit.messages.push(request);
    const { context_id, transcript = '', output_format } = request;
    const send = (message: object) => socket.send(JSON.stringify({ context_id, ...message }));
    if (request.cancel === true) return;
    if (transcript.trim() !== '') {
      const rate = output_format?.sample_rate ?? 24_000;
      const start = spoken.get(context_id) ?? 0;
      const seconds = Math.min(longest, transcript.length * perLetter);
      spoken.set(context_id, start + seconds);
      const words = transcript.trim().split(/\s+/);
      const times = words.map((_, index) => start + (index * seconds) / words.length);
      const ends = times.map((time) => time + seconds / words.length);
      send({ type: 'timestamps', word_timestamps: { words, start: times, end: ends } });
      for (let from = 0; from < seconds; from += perChunk) {
        const sound = tone(start + from, Math.min(perChunk, seconds - from), rate);
        send({ type: 'chunk', data: sound.toString('base64'), done: false, status_code: 206, step_time: 1 });
      }
    }
    if (request.continue === false) send({ type: 'done', done: true, status_code: 200 });
  });
}

function tone(start: number, seconds: number, rate: number): Buffer {
  const sound = Buffer.alloc(Math.round(seconds * rate) * 2);
  for (let index = 0; index * 2 < sound.length; index += 1) {
    const time = start + index / rate;
    sound.writeInt16LE(Math.round(Math.sin(2 * Math.PI * pitchHertz * time) * 16_000), index * 2);
  }
  return sound;
}
