import type { PhoneCarrier } from '@bothost/contract';
import { WebSocket } from 'ws';

/** The messages of a call as its carrier sends them: start, audio, a digit, stop. */
export type CarrierMessages = {
  readonly opening: readonly object[];
  readonly media: (index: number) => object;
  readonly dtmf: object;
  readonly stop: object;
  /** Number of audio messages in two seconds. */
  readonly piecesHeld: number;
};

/** Returns 20 ms of mu-law audio that differs by `index`. */
const mulaw = (index: number) => Buffer.alloc(160, index).toString('base64');

export function createTwilioCall(serviceHost: string): CarrierMessages {
  const streamSid = 'MZ18ad3ab5a668481ce02b83e7395059f0';
  const customParameters = { _pipecatCloudServiceHost: serviceHost, from_number: '+15550001', favourite: 'seed' };
  return {
    opening: [
      { event: 'connected', protocol: 'Call', version: '1.0.0' },
      {
        event: 'start',
        sequenceNumber: '1',
        start: {
          accountSid: 'AC1',
          streamSid,
          callSid: 'CA1',
          tracks: ['inbound'],
          mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 },
          customParameters,
        },
        streamSid,
      },
    ],
    media: (index) => ({
      event: 'media',
      sequenceNumber: String(index + 2),
      media: { track: 'inbound', chunk: String(index + 1), timestamp: String(index * 20), payload: mulaw(index) },
      streamSid,
    }),
    dtmf: { event: 'dtmf', streamSid, sequenceNumber: '5', dtmf: { track: 'inbound_track', digit: '1' } },
    stop: { event: 'stop', sequenceNumber: '9', streamSid, stop: { accountSid: 'AC1', callSid: 'CA1' } },
    piecesHeld: 100,
  };
}

const telnyx: CarrierMessages = {
  opening: [
    { event: 'connected', version: '1.0.0' },
    {
      event: 'start',
      sequence_number: '1',
      start: {
        user_id: 'u1',
        call_control_id: 'v2:T02',
        call_session_id: 's1',
        from: '+15550001',
        to: '+15550002',
        media_format: { encoding: 'PCMU', sample_rate: 8000, channels: 1 },
      },
      stream_id: '32de0dea-53cb-4b21-89a4-9e1819c043bc',
    },
  ],
  media: (index) => ({
    event: 'media',
    sequence_number: String(index + 2),
    media: { track: 'inbound', chunk: String(index + 1), timestamp: String(index * 20), payload: mulaw(index) },
    stream_id: '32de0dea-53cb-4b21-89a4-9e1819c043bc',
  }),
  dtmf: { event: 'dtmf', stream_id: '32de0dea-53cb-4b21-89a4-9e1819c043bc', dtmf: { digit: '1' } },
  stop: { event: 'stop', sequence_number: '9', stop: { user_id: 'u1', call_control_id: 'v2:T02' } },
  piecesHeld: 100,
};

const plivo: CarrierMessages = {
  opening: [
    {
      sequenceNumber: 0,
      event: 'start',
      start: {
        callId: 'c0ffee',
        streamId: 'b77e037d',
        accountId: 'MA1',
        tracks: ['inbound'],
        mediaFormat: { encoding: 'audio/x-mulaw', sampleRate: 8000 },
      },
      extra_headers: '{}',
    },
  ],
  media: (index) => ({
    sequenceNumber: index + 1,
    streamId: 'b77e037d',
    event: 'media',
    media: { track: 'inbound', timestamp: String(index * 20), chunk: index + 1, payload: mulaw(index) },
    extra_headers: '{}',
  }),
  dtmf: { event: 'dtmf', streamId: 'b77e037d', dtmf: { track: 'inbound', digit: '1' } },
  stop: { event: 'stop', sequenceNumber: 9, streamId: 'b77e037d', stop: { callId: 'c0ffee' } },
  piecesHeld: 100,
};

const exotel: CarrierMessages = {
  opening: [
    { event: 'connected' },
    {
      event: 'start',
      sequence_number: 1,
      stream_sid: 'ES1',
      start: {
        stream_sid: 'ES1',
        call_sid: 'EC1',
        account_sid: 'EA1',
        from: '015550001',
        to: '015550002',
        custom_parameters: { favourite: 'seed' },
        media_format: { encoding: 'base64', sample_rate: '8000', bit_rate: '128kbps' },
      },
    },
  ],
  // A chunk of 100 ms of audio as 16-bit PCM.
  media: (index) => ({
    event: 'media',
    sequence_number: index + 2,
    stream_sid: 'ES1',
    media: { chunk: index + 1, timestamp: String(index * 100), payload: Buffer.alloc(1600, index).toString('base64') },
  }),
  dtmf: { event: 'dtmf', sequence_number: 5, stream_sid: 'ES1', dtmf: { duration: '100', digit: '1' } },
  stop: { event: 'stop', sequence_number: 9, stream_sid: 'ES1', stop: { call_sid: 'EC1', reason: 'callended' } },
  piecesHeld: 20,
};

/** A carrier's messages for a call to `{agent}.{org}`, and the path of the call's WebSocket. */
export function createCarrierCall(
  carrier: PhoneCarrier,
  serviceHost: string,
): CarrierMessages & { readonly path: string } {
  const words = { twilio: createTwilioCall(serviceHost), telnyx, plivo, exotel }[carrier];
  return { ...words, path: carrier === 'twilio' ? '/ws/twilio' : `/ws/${carrier}?serviceHost=${serviceHost}` };
}

export type PhoneCall = {
  readonly socket: WebSocket;
  readonly say: (...messages: readonly object[]) => void;
  readonly hear: (count: number) => Promise<readonly unknown[]>;
  /** Resolves with the code and reason with which the call is closed. */
  readonly closed: Promise<readonly [number, string]>;
};

/** Opens the WebSocket of a call. Rejects with the HTTP status if the service refuses it. */
export async function dialCall(service: { readonly url: string }, path: string): Promise<PhoneCall> {
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}${path}`);
  const heard: unknown[] = [];
  const waiting = new Set<() => void>();
  socket.on('message', (data: Buffer) => {
    heard.push(JSON.parse(data.toString()));
    for (const look of waiting) look();
  });
  socket.on('error', () => undefined);
  const closed = new Promise<readonly [number, string]>((resolve) => {
    socket.once('close', (code, reason) => resolve([code, String(reason)]));
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('unexpected-response', (_, answer) => {
      answer.resume();
      socket.terminate();
      reject(new Error(`WebSocket upgrade refused with status ${answer.statusCode}`));
    });
  });
  return {
    socket,
    say: (...messages) => {
      for (const message of messages) socket.send(JSON.stringify(message));
    },
    hear: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (heard.length < count) return;
          waiting.delete(look);
          resolve(heard.splice(0, count));
        };
        waiting.add(look);
        look();
      }),
    closed,
  };
}
