import { variable } from '../python/environment.ts';
import type { Import } from '../python/expression.ts';
import type { Transport } from './transport.ts';

type Named = Import & { readonly name: string };
const rooms: Named = { module: 'pipecat.transports.daily.transport', name: 'DailyParams' };
const sockets: Named = { module: 'pipecat.transports.websocket.fastapi', name: 'FastAPIWebsocketParams' };
const livekit: Named = { module: 'pipecat.transports.livekit.transport', name: 'LiveKitParams' };
const peers: Named = { module: 'pipecat.transports.base_transport', name: 'TransportParams' };

const roomAccount = [
  variable('DAILY_API_KEY', true, 'creates rooms'),
  variable('DAILY_API_URL', false, 'a different address of the vendor’s API'),
];
const twilio = [
  variable('TWILIO_ACCOUNT_SID', true, 'needed to hang up calls'),
  variable('TWILIO_AUTH_TOKEN', true, 'needed to hang up calls'),
];
const pstn = { value: 'hostedrtc_pstn', aliases: ['daily_pstn'] };
const sip = { value: 'carrier1_hostedrtc_sip', aliases: ['twilio_daily_sip'] };

/** In the order of `--list-options`: web, then telephony. */
export const transports: readonly Transport[] = [
  {
    value: 'hostedrtc',
    aliases: ['daily'],
    label: 'Daily (hosted WebRTC rooms)',
    group: 'web',
    kind: 'browser',
    extras: ['daily'],
    key: 'daily',
    parameters: rooms,
    video: true,
    variables: [
      ...roomAccount,
      variable('DAILY_ROOM_URL', false, 'one room for all sessions instead of a new one for each'),
    ],
  },
  {
    value: 'livekit',
    aliases: [],
    label: 'LiveKit (hosted or own WebRTC rooms)',
    group: 'web',
    kind: 'browser',
    extras: ['livekit'],
    key: 'livekit',
    parameters: livekit,
    video: true,
    variables: [
      variable('LIVEKIT_URL', true, 'address of the server, wss://...'),
      variable('LIVEKIT_API_KEY', true),
      variable('LIVEKIT_API_SECRET', true),
      variable('LIVEKIT_ROOM_NAME', false, 'one room for all sessions instead of a new one for each'),
    ],
    since: '1.13.0',
  },
  {
    value: 'lightrtc',
    aliases: ['smallwebrtc'],
    label: 'SmallWebRTC (peer to peer, no vendor)',
    group: 'web',
    kind: 'browser',
    extras: ['webrtc'],
    key: 'webrtc',
    parameters: peers,
    video: true,
    variables: [
      variable(
        'PIPECAT_ICE_SERVERS',
        false,
        'STUN and TURN servers as JSON, for strict networks; for your machine only: the service sets it and refuses it as a secret',
      ),
    ],
  },
  {
    value: 'websocket',
    aliases: [],
    label: 'WebSocket',
    group: 'web',
    kind: 'browser',
    extras: ['websocket'],
    key: 'websocket',
    parameters: sockets,
    video: false,
    variables: [],
  },
  {
    value: 'carrier1',
    aliases: ['twilio'],
    label: 'Twilio (media streams)',
    group: 'telephony',
    kind: 'stream',
    extras: ['websocket'],
    key: 'twilio',
    parameters: sockets,
    video: false,
    variables: [
      ...twilio,
      variable('TWILIO_API_KEY', false, 'instead of the account’s token'),
      variable('TWILIO_API_SECRET', false, 'instead of the account’s token'),
      variable('TWILIO_REGION', false),
      variable('TWILIO_EDGE', false),
    ],
  },
  {
    value: 'carrier1_hostedrtc_sip_dialin',
    aliases: ['twilio_daily_sip_dialin'],
    label: 'Twilio into a Daily room by SIP, dial-in',
    group: 'telephony',
    kind: 'bridged-dial-in',
    request: { ...sip, direction: 'dial-in' },
    extras: ['daily'],
    key: null,
    parameters: rooms,
    video: false,
    variables: roomAccount,
  },
  {
    value: 'carrier1_hostedrtc_sip_dialout',
    aliases: ['twilio_daily_sip_dialout'],
    label: 'Twilio out of a Daily room by SIP, dial-out',
    group: 'telephony',
    kind: 'bridged-dial-out',
    request: { ...sip, direction: 'dial-out' },
    extras: ['daily'],
    key: null,
    parameters: rooms,
    video: false,
    variables: roomAccount,
  },
  {
    value: 'hostedrtc_pstn_dialin',
    aliases: ['daily_pstn_dialin'],
    label: 'Daily phone number, dial-in',
    group: 'telephony',
    kind: 'room-dial-in',
    request: { ...pstn, direction: 'dial-in' },
    extras: ['daily'],
    key: 'daily',
    parameters: rooms,
    video: false,
    variables: roomAccount,
  },
  {
    value: 'hostedrtc_pstn_dialout',
    aliases: ['daily_pstn_dialout'],
    label: 'Daily phone number, dial-out',
    group: 'telephony',
    kind: 'room-dial-out',
    request: { ...pstn, direction: 'dial-out' },
    extras: ['daily'],
    key: null,
    parameters: rooms,
    video: false,
    variables: roomAccount,
  },
  {
    value: 'carrier2',
    aliases: ['telnyx'],
    label: 'Telnyx (media streams)',
    group: 'telephony',
    kind: 'stream',
    extras: ['websocket'],
    key: 'telnyx',
    parameters: sockets,
    video: false,
    variables: [variable('TELNYX_API_KEY', true, 'needed to hang up calls')],
  },
  {
    value: 'carrier3',
    aliases: ['plivo'],
    label: 'Plivo (audio streams)',
    group: 'telephony',
    kind: 'stream',
    extras: ['websocket'],
    key: 'plivo',
    parameters: sockets,
    video: false,
    variables: [
      variable('PLIVO_AUTH_ID', true, 'needed to hang up calls'),
      variable('PLIVO_AUTH_TOKEN', true, 'needed to hang up calls'),
    ],
  },
  {
    value: 'carrier4',
    aliases: ['exotel'],
    label: 'Exotel (voicebot applet)',
    group: 'telephony',
    kind: 'stream',
    extras: ['websocket'],
    key: 'exotel',
    parameters: sockets,
    video: false,
    variables: [],
  },
];

const byValue = new Map(
  transports.flatMap((transport) =>
    [transport.value, ...transport.aliases].map((value) => [value, transport] as const),
  ),
);

/** The transport that a value or one of its aliases means. A name that needs a direction beside it means none. */
export function findTransport(value: string): Transport | null {
  return byValue.get(value) ?? null;
}

/** The transports, one for each direction, that a name without a direction can mean. */
export function transportsRequestedBy(value: string): readonly Transport[] {
  return transports.filter(({ request }) => request?.value === value || request?.aliases.includes(value));
}

/** Whether the hosted room rings somebody or is rung: a bot can do one of these, since it waits for one kind of caller. */
export function throughRoom(transport: Transport): boolean {
  return transport.kind !== 'browser' && transport.kind !== 'stream';
}
