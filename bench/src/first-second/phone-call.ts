import { once } from 'node:events';
import { WebSocket } from 'ws';
import { waitUntil } from '../wait-until.ts';

/** Each message contains 20 ms of 16-bit audio at 8000 Hz. */
const pieceBytes = 320;
/** Samples above this amplitude are speech. */
const loudness = 1000;
const quietMs = 400;
const timeoutMs = 30_000;

export type PhoneCall = {
  /** From the call's first packet to the bot's first audible word, in milliseconds. */
  readonly firstAudioMs: number;
  /**
   * Plays `speech` to the bot once the bot is silent. Resolves with the milliseconds from the last packet of the speech to the first
   * audio of the answer.
   */
  readonly ask: (speech: Buffer) => Promise<number>;
  readonly hangUp: () => Promise<void>;
};

/**
 * Calls a bot with the WebSocket protocol of the telephone carrier Exotel. Sends an audio message every 20 ms, also during
 * silence. Resolves when the bot speaks. Rejects if the bot closes the call or does not speak in time.
 */
export async function callBotByPhone(url: string): Promise<PhoneCall> {
  const begin = performance.now();
  const socket = new WebSocket(url);
  const closed = once(socket, 'close');
  let unsaid: Buffer = Buffer.alloc(0);
  let lastLoudAt = Number.NEGATIVE_INFINITY;
  let lastSpokenAt = Number.NEGATIVE_INFINITY;
  let onSpeech = () => {};
  const send = (message: object) => socket.send(JSON.stringify({ stream_sid: 'ES1', ...message }));
  socket.once('open', () => {
    send({ event: 'connected' });
    const start = { stream_sid: 'ES1', call_sid: 'EC1', account_sid: 'EA1', from: '015550001', to: '015550002' };
    send({ event: 'start', start: { ...start, media_format: { encoding: 'base64', sample_rate: '8000' } } });
  });
  let index = 0;
  const speaking = setInterval(() => {
    if (socket.readyState !== WebSocket.OPEN) return;
    const piece = Buffer.alloc(pieceBytes);
    if (unsaid.length > 0) lastSpokenAt = performance.now();
    unsaid.copy(piece);
    unsaid = unsaid.subarray(pieceBytes);
    const media = { chunk: index + 1, timestamp: String(index * 20), payload: piece.toString('base64') };
    send({ event: 'media', sequence_number: index + 2, media });
    index += 1;
  }, 20);
  socket.on('message', (data: Buffer) => {
    const message: { event: string; media?: { payload: string } } = JSON.parse(data.toString());
    if (message.media === undefined || !isLoud(Buffer.from(message.media.payload, 'base64'))) return;
    const now = performance.now();
    const begins = now - lastLoudAt > quietMs;
    lastLoudAt = now;
    if (begins) onSpeech();
  });
  const nextSpeech = () =>
    new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('The bot did not speak in time.')), timeoutMs);
      const settle = (done: () => void) => () => {
        clearTimeout(timer);
        done();
      };
      onSpeech = settle(resolve);
      const ended = settle(() => reject(new Error('The bot hung up before it spoke.')));
      closed.then(ended, ended);
    });
  const hangUp = async () => {
    clearInterval(speaking);
    socket.close(1000);
    await closed.catch(() => undefined);
  };
  try {
    await nextSpeech();
  } catch (error) {
    clearInterval(speaking);
    socket.terminate();
    throw error;
  }
  return {
    firstAudioMs: performance.now() - begin,
    ask: async (speech) => {
      await waitUntil('silence', async () => (performance.now() - lastLoudAt > 2 * quietMs ? true : undefined));
      unsaid = speech;
      await nextSpeech();
      return performance.now() - lastSpokenAt;
    },
    hangUp,
  };
}

function isLoud(audio: Buffer): boolean {
  for (let at = 0; at + 1 < audio.length; at += 2) if (Math.abs(audio.readInt16LE(at)) > loudness) return true;
  return false;
}
