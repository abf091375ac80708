import { once } from 'node:events';
import { afterEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { decodeFrame, encodeAudio, encodeMessage } from './frames.ts';
import { createRtviMessage, parseRtvi, type RtviMessage } from './rtvi.ts';
import { startParrotServer } from './server.ts';

const open: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

type Client = {
  readonly socket: WebSocket;
  readonly messages: RtviMessage[];
  readonly types: () => string[];
  readonly lines: () => unknown[];
  readonly audioSamples: () => number;
  readonly interruptions: () => number;
  readonly send: (type: string, data?: Record<string, unknown>, id?: string) => void;
};

async function connect(body: Record<string, unknown> = {}): Promise<Client> {
  const parrot = await startParrotServer({
    host: '127.0.0.1',
    port: 0,
    controlToken: undefined,
    newSessionId: () => 's',
    now: () => new Date(),
    preciseNow: () => performance.timeOrigin + performance.now(),
    log: () => {},
  });
  open.push(parrot.close);
  const encoded = encodeURIComponent(Buffer.from(JSON.stringify(body)).toString('base64'));
  const socket = new WebSocket(`ws://127.0.0.1:${parrot.port}/ws?body=${encoded}`);
  const messages: RtviMessage[] = [];
  let samples = 0;
  let interruptions = 0;
  socket.on('message', (data: Buffer) => {
    const frame = decodeFrame(data);
    if (frame === undefined) interruptions += 1;
    if (frame?.kind === 'audio') {
      expect(frame.sampleRate).toBe(24_000);
      samples += frame.samples.length;
    }
    const message = frame?.kind === 'message' ? parseRtvi(frame.data) : undefined;
    if (message !== undefined) messages.push(message);
  });
  await once(socket, 'open');
  return {
    socket,
    messages,
    types: () => messages.map((message) => message.type),
    lines: () => messages.filter((message) => message.type === 'bot-output').map((message) => message.data['text']),
    audioSamples: () => samples,
    interruptions: () => interruptions,
    send: (type, data, id) => socket.send(encodeMessage(createRtviMessage(type, data, id))),
  };
}

function sendTone(client: Client, seconds: number, amplitude: number): void {
  const piece = Int16Array.from({ length: 320 }, (_, i) => Math.round(amplitude * 32_767 * Math.sin(i * 0.1)));
  for (let sent = 0; sent < seconds * 50; sent++) client.socket.send(encodeAudio(piece, 16_000));
}

test('the parrot responds to client-ready with bot-ready for the same id, then greets with text and chirps', async () => {
  const client = await connect({ say: 'welcome back' });
  client.send('client-ready', { version: '2.1.0', about: { library: 'test' } }, 'r-1');
  await expect.poll(client.types).toContain('bot-stopped-speaking');
  expect(client.messages[0]).toMatchObject({ id: 'r-1', type: 'bot-ready', data: { version: '2.1.0' } });
  expect(client.lines()).toEqual([expect.stringContaining('I am the parrot'), 'welcome back']);
  expect(client.types()).toContain('bot-started-speaking');
  expect(client.audioSamples()).toBeGreaterThan(10_000);
});

test('the parrot responds with RTVI version 1 to a client of that version', async () => {
  const client = await connect();
  client.send('client-ready', { version: '1.2.0' });
  await expect.poll(() => client.messages[0]).toMatchObject({ type: 'bot-ready', data: { version: '1.2.0' } });
});

test('the parrot repeats the speech of the client as audio of equal length', async () => {
  const client = await connect();
  sendTone(client, 0.5, 0);
  sendTone(client, 0.6, 0.3);
  sendTone(client, 1, 0);
  await expect.poll(client.types).toContain('bot-stopped-speaking');
  expect(client.types().filter((type) => /speaking/.test(type))).toEqual([
    'user-started-speaking',
    'user-stopped-speaking',
    'bot-started-speaking',
    'bot-stopped-speaking',
  ]);
  expect(client.lines()).toEqual(['I heard 1.0 seconds of you']);
  expect(client.audioSamples()).toBe(24_000);
});

test('the parrot stops speaking when the client speaks', async () => {
  const client = await connect();
  client.send('send-text', { content: 'one two three four five six seven eight nine ten' });
  await expect.poll(client.types).toContain('bot-started-speaking');
  sendTone(client, 0.3, 0.3);
  await expect.poll(client.types).toContain('user-started-speaking');
  expect(client.interruptions()).toBe(1);
  const speaking = client.types().filter((type) => /speaking/.test(type));
  expect(speaking).toEqual(['bot-started-speaking', 'bot-stopped-speaking', 'user-started-speaking']);
});

test('the parrot responds to text with text alone if the client requests no audio', async () => {
  const client = await connect();
  client.send('send-text', { content: 'psst', options: { audio_response: false } });
  await expect.poll(client.lines).toEqual(['Rraawk! psst']);
  client.send('client-message', { t: 'ping', d: { n: 1 } }, 'q-1');
  await expect.poll(client.types).toContain('server-response');
  expect(client.messages.at(-1)).toMatchObject({ id: 'q-1', data: { t: 'ping', d: { n: 1 } } });
  expect(client.types()).not.toContain('bot-started-speaking');
});

test('the parrot ignores messages that are not valid Pipecat frames', async () => {
  const client = await connect();
  client.socket.send(Buffer.from([0xff, 0xff, 0xff]));
  client.socket.send('text that no one asked for');
  client.socket.send(encodeMessage('{"label":"rtvi-ai"'));
  client.socket.send(encodeAudio(new Int16Array(320), 0));
  client.send('send-text', { content: 'still there?', options: { audio_response: false } });
  await expect.poll(client.lines).toEqual(['Rraawk! still there?']);
});

test('the message disconnect-bot ends the session', async () => {
  const client = await connect();
  const closed = once(client.socket, 'close');
  client.send('disconnect-bot');
  expect((await closed)[0]).toBe(1000);
});
