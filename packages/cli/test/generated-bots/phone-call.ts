import { once } from 'node:events';
import { vi } from 'vitest';
import { WebSocket } from 'ws';

/** Each message in either direction contains 20 ms of mu-law audio at 8000 Hz. */
const [rate, pieceBytes] = [8000, 160];
/** The amplitude of sound, and the milliseconds without sound between two utterances. */
const [soundAmplitude, pauseMs] = [1000, 500];
const streamSid = 'MZ18ad3ab5a668481ce02b83e7395059f0';

/** Received sound, without its silent parts: the length in seconds and the pitch in hertz. */
export type ReceivedSound = { readonly seconds: number; readonly pitch: number };

export type PhoneCall = {
  /** When the first sound of each utterance of the caller was sent, and of the bot was received, in milliseconds since 1970. */
  readonly onsetsMs: { readonly sent: readonly number[]; readonly received: readonly number[] };
  /**
   * Resolves when the bot has sent this number of seconds of sound since the previous `listen`. Rejects if the bot ends the
   * phone call first.
   */
  readonly listen: (seconds: number) => Promise<ReceivedSound>;
  readonly say: (sound: string) => void;
  /**
   * Says something, and resolves with the milliseconds from the end of its sound until the bot is heard next. Rejects if the bot
   * ends the phone call first.
   */
  readonly ask: (sound: string) => Promise<number>;
  readonly hangUp: () => Promise<void>;
};

/** Calls a bot as a Twilio media stream does, with one message every 20 ms, also during silence. */
export async function callBot(
  url: string,
  parameters: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<PhoneCall> {
  const socket = new WebSocket(url, { headers });
  await once(socket, 'open');
  const send = (message: object) => socket.send(JSON.stringify(message));
  send({ event: 'connected', protocol: 'Call', version: '1.0.0' });
  const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: rate, channels: 1 };
  const ids = { accountSid: 'AC1', callSid: 'CA1', streamSid };
  const start = { ...ids, tracks: ['inbound'], mediaFormat, customParameters: parameters };
  send({ event: 'start', sequenceNumber: '1', streamSid, start });
  const [sent, received]: [number[], number[]] = [[], []];
  const [noteSent, noteReceived] = [noteOnsets(sent), noteOnsets(received)];
  let [chunk, unsaid] = [0, Buffer.alloc(0)];
  const speaking = setInterval(() => {
    chunk += 1;
    const piece = Buffer.alloc(pieceBytes, 0xff);
    unsaid.copy(piece);
    unsaid = unsaid.subarray(pieceBytes);
    if (hasSound([...piece].map(linear))) noteSent();
    const media = { track: 'inbound', chunk: String(chunk), timestamp: String(chunk * 20) };
    const payload = piece.toString('base64');
    send({ event: 'media', streamSid, sequenceNumber: String(chunk + 1), media: { ...media, payload } });
  }, 20);
  let samples: number[] = [];
  let heardAtMs = 0;
  socket.on('message', (data: Buffer) => {
    const message: { event: string; media?: { payload: string } } = JSON.parse(data.toString());
    if (message.event !== 'media' || message.media === undefined) return;
    const sound = [...Buffer.from(message.media.payload, 'base64')].map(linear);
    if (!hasSound(sound)) return;
    noteReceived();
    samples.push(...sound);
    heardAtMs = performance.now();
  });
  const closed = once(socket, 'close');
  socket.once('close', () => clearInterval(speaking));
  const waitUntil = async (isReached: () => boolean) => {
    const hungUp = closed.then(([code]) => {
      throw new Error(`The bot ended the call with code ${code} after ${samples.length / rate} s of sound.`);
    });
    await Promise.race([vi.waitUntil(isReached, { timeout: 60_000, interval: 5 }), hungUp]);
  };
  return {
    onsetsMs: { sent, received },
    say: (sound) => {
      unsaid = Buffer.from(sound, 'base64');
    },
    ask: async (sound) => {
      unsaid = Buffer.from(sound, 'base64');
      await waitUntil(() => unsaid.length === 0);
      const endedAtMs = performance.now();
      await waitUntil(() => heardAtMs > endedAtMs);
      return heardAtMs - endedAtMs;
    },
    listen: async (seconds) => {
      await waitUntil(() => samples.length > seconds * rate);
      const sound = { seconds: samples.length / rate, pitch: pitchOf(samples) };
      samples = [];
      return sound;
    },
    hangUp: async () => {
      send({ event: 'stop', streamSid, stop: { accountSid: 'AC1', callSid: 'CA1' } });
      socket.close(1000);
      await closed;
    },
  };
}

/** Calls a bot, listens to its greeting, and hangs up. */
export async function receiveGreeting(
  url: string,
  parameters: Readonly<Record<string, string>>,
): Promise<ReceivedSound> {
  const call = await callBot(url, parameters);
  const sound = await call.listen(1.5);
  await call.hangUp();
  return sound;
}

function hasSound(samples: readonly number[]): boolean {
  return samples.some((sample) => Math.abs(sample) > soundAmplitude);
}

/** Returns a function to call for each packet with sound. It adds the beginning of each utterance to a list. */
function noteOnsets(onsetsMs: number[]): () => void {
  let latestMs = 0;
  return () => {
    const now = Date.now();
    if (now - latestMs >= pauseMs) onsetsMs.push(now);
    latestMs = now;
  };
}

function pitchOf(samples: readonly number[]): number {
  const crossings = samples.filter((sample, index) => index > 0 && sample < 0 !== (samples[index - 1] ?? 0) < 0).length;
  return (crossings * rate) / (2 * samples.length);
}

/** Decodes a byte of mu-law to a 16-bit sample (ITU-T G.711). */
function linear(byte: number): number {
  const bits = ~byte & 0xff;
  const magnitude = (((bits & 0x0f) << 3) + 0x84) << ((bits & 0x70) >> 4);
  return bits & 0x80 ? 0x84 - magnitude : magnitude - 0x84;
}
