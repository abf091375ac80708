import { describeVariable } from '../python/environment.ts';
import type { PythonImport } from '../python/expression.ts';
import type { Transport, TransportName } from './transport.ts';
import { peerClient, roomClient, socketClient } from './transport-clients.ts';

type ParametersClass = PythonImport & { readonly name: string };
const rooms: ParametersClass = { module: 'pipecat.transports.daily.transport', name: 'DailyParams' };
const sockets: ParametersClass = { module: 'pipecat.transports.websocket.fastapi', name: 'FastAPIWebsocketParams' };
const livekit: ParametersClass = { module: 'pipecat.transports.livekit.transport', name: 'LiveKitParams' };
const peers: ParametersClass = { module: 'pipecat.transports.base_transport', name: 'TransportParams' };

const roomAccount = [
  describeVariable('DAILY_API_KEY', true, 'creates rooms'),
  describeVariable('DAILY_API_URL', false, 'a different address of the vendor’s API'),
];
const twilio = [
  describeVariable('TWILIO_ACCOUNT_SID', true, 'needed to hang up calls'),
  describeVariable('TWILIO_AUTH_TOKEN', true, 'needed to hang up calls'),
];
const pstn = { value: 'hostedrtc_pstn', knownAs: 'daily_pstn' };
const sip = { value: 'carrier1_hostedrtc_sip', knownAs: 'twilio_daily_sip' };

const browser = { group: 'web', kind: 'browser' } as const;
/** Calls over the media stream of a carrier. */
const stream = {
  group: 'telephony',
  kind: 'stream',
  extras: ['websocket'],
  parameters: sockets,
  video: false,
} as const;
/** Calls through a hosted room. */
const room = {
  group: 'telephony',
  extras: ['daily'],
  parameters: rooms,
  video: false,
  variables: roomAccount,
} as const;

/** All transports, in the order of `--list-options`: web transports come first. */
export const transports: readonly Transport[] = [
  {
    ...browser,
    value: 'hostedrtc',
    knownAs: 'daily',
    label: 'Daily',
    about: 'hosted WebRTC rooms, needs a Daily account',
    extras: ['daily'],
    key: 'daily',
    parameters: rooms,
    video: true,
    variables: [
      ...roomAccount,
      describeVariable('DAILY_ROOM_URL', false, 'one room for all sessions instead of a new one for each'),
    ],
    requestedAs: 'daily',
    needs: 'needs a key of Daily on the service',
    testsPhoneBots: true,
    client: roomClient,
  },
  {
    ...browser,
    value: 'livekit',
    knownAs: null,
    label: 'LiveKit',
    about: 'WebRTC rooms, hosted or on your own server',
    extras: ['livekit'],
    key: 'livekit',
    parameters: livekit,
    video: true,
    variables: [
      describeVariable('LIVEKIT_URL', true, 'address of the server, wss://...'),
      describeVariable('LIVEKIT_API_KEY', true),
      describeVariable('LIVEKIT_API_SECRET', true),
      describeVariable('LIVEKIT_ROOM_NAME', false, 'one room for all sessions instead of a new one for each'),
    ],
    since: '1.13.0',
    requestedAs: 'livekit',
    needs: 'the service needs a LiveKit server',
  },
  {
    ...browser,
    value: 'lightrtc',
    knownAs: 'smallwebrtc',
    label: 'SmallWebRTC',
    about: 'peer-to-peer WebRTC, needs no account',
    extras: ['webrtc'],
    key: 'webrtc',
    parameters: peers,
    video: true,
    variables: [
      describeVariable(
        'PIPECAT_ICE_SERVERS',
        false,
        'STUN and TURN servers as JSON, for strict networks; for your machine only: the service sets it and refuses it as a secret',
      ),
    ],
    requestedAs: 'webrtc',
    talkPageQuery: '?transport=webrtc',
    testsPhoneBots: true,
    client: peerClient,
  },
  {
    ...browser,
    value: 'websocket',
    knownAs: null,
    label: 'WebSocket',
    about: 'audio over a plain socket, needs no account',
    extras: ['websocket'],
    key: 'websocket',
    parameters: sockets,
    video: false,
    variables: [],
    requestedAs: 'websocket',
    talkPageQuery: '',
    client: socketClient,
  },
  {
    ...stream,
    value: 'carrier1',
    knownAs: 'twilio',
    label: 'Twilio',
    about: 'calls to your Twilio number, over media streams',
    key: 'twilio',
    variables: [
      ...twilio,
      describeVariable('TWILIO_API_KEY', false, 'instead of the account’s token'),
      describeVariable('TWILIO_API_SECRET', false, 'instead of the account’s token'),
      describeVariable('TWILIO_REGION', false),
      describeVariable('TWILIO_EDGE', false),
    ],
  },
  {
    ...room,
    value: 'carrier1_hostedrtc_sip_dialin',
    knownAs: 'twilio_daily_sip_dialin',
    label: 'Twilio and Daily, dial-in',
    about: 'calls to your Twilio number, connected to a Daily room by SIP',
    kind: 'bridged-dial-in',
    request: { ...sip, direction: 'dial-in' },
    key: null,
  },
  {
    ...room,
    value: 'carrier1_hostedrtc_sip_dialout',
    knownAs: 'twilio_daily_sip_dialout',
    label: 'Twilio and Daily, dial-out',
    about: 'the bot calls people through Twilio, from a Daily room by SIP',
    kind: 'bridged-dial-out',
    request: { ...sip, direction: 'dial-out' },
    key: null,
  },
  {
    ...room,
    value: 'hostedrtc_pstn_dialin',
    knownAs: 'daily_pstn_dialin',
    label: 'Daily phone number, dial-in',
    about: 'calls to a phone number bought from Daily',
    kind: 'room-dial-in',
    request: { ...pstn, direction: 'dial-in' },
    key: 'daily',
  },
  {
    ...room,
    value: 'hostedrtc_pstn_dialout',
    knownAs: 'daily_pstn_dialout',
    label: 'Daily phone number, dial-out',
    about: 'the bot calls people with a number bought from Daily',
    kind: 'room-dial-out',
    request: { ...pstn, direction: 'dial-out' },
    key: null,
  },
  {
    ...stream,
    value: 'carrier2',
    knownAs: 'telnyx',
    label: 'Telnyx',
    about: 'calls to your Telnyx number, over media streams',
    key: 'telnyx',
    variables: [describeVariable('TELNYX_API_KEY', true, 'needed to hang up calls')],
  },
  {
    ...stream,
    value: 'carrier3',
    knownAs: 'plivo',
    label: 'Plivo',
    about: 'calls to your Plivo number, over audio streams',
    key: 'plivo',
    variables: [
      describeVariable('PLIVO_AUTH_ID', true, 'needed to hang up calls'),
      describeVariable('PLIVO_AUTH_TOKEN', true, 'needed to hang up calls'),
    ],
  },
  {
    ...stream,
    value: 'carrier4',
    knownAs: 'exotel',
    label: 'Exotel',
    about: 'calls to your Exotel number, over its Voicebot applet',
    key: 'exotel',
    variables: [],
  },
];

const byName = new Map(
  transports.flatMap((transport) => listTransportNames(transport).map((name) => [name, transport] as const)),
);

/**
 * Finds a transport by its canonical name or Pipecat's name. Returns null for other names. For names without a direction, such
 * as `daily_pstn`, use `findDialInAndDialOutTransports`.
 */
export function findTransport(name: string): Transport | null {
  return byName.get(name) ?? null;
}

/** The dial-in and dial-out transport of a name such as `daily_pstn`. Empty for other names. */
export function findDialInAndDialOutTransports(name: string): readonly Transport[] {
  return transports.filter(({ request }) => request !== undefined && listTransportNames(request).includes(name));
}

/** Lists the names of a transport, the canonical name first. */
export function listTransportNames({ value, knownAs }: TransportName): readonly string[] {
  return knownAs === null ? [value] : [value, knownAs];
}

/** Formats both names of a transport, for example `smallwebrtc (lightrtc)`. */
export function formatTransportName({ value, knownAs }: TransportName): string {
  return knownAs === null ? value : `${knownAs} (${value})`;
}

/**
 * The choices for `--transport` in messages. Transports that differ only in their direction appear once, without the direction.
 */
export const transportChoices: readonly string[] = [
  ...new Set(transports.map(({ request, ...transport }) => formatTransportName(request ?? transport))),
];

/**
 * Returns whether the transport connects phone calls through a hosted room. A bot can have only one such transport, because a
 * bot waits for only one kind of call.
 */
export function usesHostedRoomForCalls(transport: Transport): boolean {
  return transport.kind !== 'browser' && transport.kind !== 'stream';
}
