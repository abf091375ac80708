import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { decodeMuLaw, encodeMuLaw, phoneSampleRateHz } from './mu-law.ts';
import { startParrotServer } from './server.ts';
import { joinSounds, measureLoudness } from './sound.ts';

const open: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

type CarrierMessage = Readonly<Record<string, unknown>> & { readonly event: string };

async function ring() {
  const lines: string[] = [];
  const parrot = await startParrotServer({
    host: '127.0.0.1',
    port: 0,
    controlToken: undefined,
    newSessionId: () => 's',
    now: () => new Date(),
    preciseNow: () => performance.timeOrigin + performance.now(),
    log: (line) => lines.push(line),
  });
  open.push(parrot.close);
  const socket = new WebSocket(`ws://127.0.0.1:${parrot.port}/ws`);
  await once(socket, 'open');
  const received: CarrierMessage[] = [];
  socket.on('message', (data: Buffer) => received.push(JSON.parse(data.toString())));
  const say = (event: string, fields: object = {}) =>
    socket.send(JSON.stringify({ event, streamSid: 'MZ1', ...fields }));
  /** Splits audio into pieces of 20 ms, as a carrier sends it. */
  const speak = (samples: Int16Array) => {
    for (let at = 0; at < samples.length; at += 160) {
      const payload = Buffer.from(encodeMuLaw(samples.subarray(at, at + 160))).toString('base64');
      say('media', { media: { track: 'inbound', payload } });
    }
  };
  const events = () => received.map(({ event }) => event);
  const audio = () =>
    joinSounds(
      received.flatMap(({ event, media }) =>
        event === 'media' ? [decodeMuLaw(Buffer.from((media as { payload: string }).payload, 'base64'))] : [],
      ),
    );
  say('connected', { protocol: 'Call', version: '1.0.0' });
  say('start', { start: { streamSid: 'MZ1', callSid: 'CA1', customParameters: {} } });
  return { socket, received, lines, say, speak, events, audio };
}

const tone = (seconds: number, amplitude: number) =>
  Int16Array.from({ length: seconds * phoneSampleRateHz }, (_, i) =>
    Math.round(amplitude * 32_767 * Math.sin(i * 0.3)),
  );

test('the parrot greets a Twilio call and repeats its audio, with a mark after each utterance, until the call stops', async () => {
  const call = await ring();
  await expect.poll(call.events).toContain('mark');
  expect(call.lines).toContain('call CA1 answered');
  const greeted = call.audio().length;
  call.speak(joinSounds([tone(1, 0.3), tone(1, 0)]));
  await expect.poll(() => call.events().filter((event) => event === 'mark').length).toBe(2);
  const echoed = call.audio().subarray(greeted);
  expect(echoed.length).toBeGreaterThan(phoneSampleRateHz);
  expect(measureLoudness(echoed.subarray(0, phoneSampleRateHz))).toBeCloseTo(0.3 / Math.SQRT2, 1);
  expect(call.received.every(({ streamSid }) => streamSid === 'MZ1')).toBe(true);
  const closed = once(call.socket, 'close');
  call.say('stop', { stop: { callSid: 'CA1' } });
  expect((await closed)[0]).toBe(1000);
});

test('the parrot drops its queued audio when the caller speaks', async () => {
  const call = await ring();
  await expect.poll(call.events).toContain('media');
  call.speak(tone(0.3, 0.3));
  await expect.poll(call.events).toContain('clear');
});

test('the parrot ignores messages that are not part of a call', async () => {
  const call = await ring();
  call.socket.send('ring ring');
  call.socket.send('null');
  call.socket.send(Buffer.from([1, 2]));
  call.say('media', { media: { payload: 7 } });
  call.say('media');
  call.say('unheard-of');
  await expect.poll(call.events).toContain('mark');
  expect(call.lines.filter((line) => line.startsWith('invalid message'))).toHaveLength(1);
});
