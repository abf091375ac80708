import { once } from 'node:events';
import { WebSocket } from 'ws';

/** Both directions of a call carry 20 ms of mu-law in a message, at 8000 Hz. */
const [rate, pieceBytes] = [8000, 160];
const silence = Buffer.alloc(pieceBytes, 0xff).toString('base64');
const streamSid = 'MZ18ad3ab5a668481ce02b83e7395059f0';

/** What a caller has heard. */
export type Heard = { readonly seconds: number; readonly pitch: number };

/**
 * Rings a bot as Twilio's media stream does (vendor protocols 14) and hangs up when `enough` seconds that are not silent
 * were heard. Fails when the other side ends the call first.
 */
export async function ring(url: string, parameters: Readonly<Record<string, string>>, enough = 1.5): Promise<Heard> {
  const socket = new WebSocket(url);
  await once(socket, 'open');
  const send = (message: object) => socket.send(JSON.stringify(message));
  send({ event: 'connected', protocol: 'Call', version: '1.0.0' });
  const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: rate, channels: 1 };
  const ids = { accountSid: 'AC1', callSid: 'CA1', streamSid };
  const start = { ...ids, tracks: ['inbound'], mediaFormat, customParameters: parameters };
  send({ event: 'start', sequenceNumber: '1', streamSid, start });
  let chunk = 0;
  const speaking = setInterval(() => {
    chunk += 1;
    const media = { track: 'inbound', chunk: String(chunk), timestamp: String(chunk * 20), payload: silence };
    send({ event: 'media', streamSid, sequenceNumber: String(chunk + 1), media });
  }, 20);
  const samples: number[] = [];
  try {
    await new Promise<void>((resolve, reject) => {
      socket.once('close', (code) =>
        reject(new Error(`the call was ended with ${code} after ${samples.length} samples`)),
      );
      socket.on('message', (data: Buffer) => {
        const message: { event: string; media?: { payload: string } } = JSON.parse(data.toString());
        if (message.event !== 'media' || message.media === undefined) return;
        const sound = [...Buffer.from(message.media.payload, 'base64')].map(linear);
        if (sound.some((sample) => Math.abs(sample) > 1000)) samples.push(...sound);
        if (samples.length > enough * rate) resolve();
      });
    });
  } finally {
    clearInterval(speaking);
  }
  send({ event: 'stop', streamSid, stop: { accountSid: 'AC1', callSid: 'CA1' } });
  socket.close(1000);
  await once(socket, 'close');
  const crossings = samples.filter((sample, index) => index > 0 && sample < 0 !== (samples[index - 1] ?? 0) < 0).length;
  return { seconds: samples.length / rate, pitch: (crossings * rate) / (2 * samples.length) };
}

/** A byte of mu-law as a sample of 16 bits (ITU-T G.711). */
function linear(byte: number): number {
  const bits = ~byte & 0xff;
  const magnitude = (((bits & 0x0f) << 3) + 0x84) << ((bits & 0x70) >> 4);
  return bits & 0x80 ? 0x84 - magnitude : magnitude - 0x84;
}
