import type { ProjectOptions } from '../../src/scaffold/configuration/fields.ts';

/**
 * How Pipecat's development runner starts a session, whether the callee or carrier responds (`reachable`), and the events that
 * follow (`steps`).
 */
export type Session = {
  readonly entryPoint: SessionEntryPoint;
  readonly body: unknown;
  readonly reachable: boolean;
  readonly local: boolean;
  readonly steps: readonly string[];
};
/**
 * How a session starts. `dial-in`: a caller phones into a hosted room. `plain`: Pipecat's runner opens no transport. For any
 * other value, the runner opens a transport, and the value is the transport's key in the bot's `transport_params`.
 */
export type SessionEntryPoint = Carrier | Browser | 'eval' | 'dial-in' | 'plain';
type Carrier = 'twilio' | 'telnyx' | 'plivo' | 'exotel';
type Browser = 'daily' | 'livekit' | 'webrtc' | 'websocket';

export const carriersByTransport: Readonly<Record<string, Carrier>> = {
  carrier1: 'twilio',
  carrier2: 'telnyx',
  carrier3: 'plivo',
  carrier4: 'exotel',
};
export const browserTransportsByName: Readonly<Record<string, Browser>> = {
  hostedrtc: 'daily',
  livekit: 'livekit',
  lightrtc: 'webrtc',
  websocket: 'websocket',
};

/**
 * All events that a bot can handle, in a possible order. `on_dialout_error` occurs more often than the bot retries the outgoing
 * call, so that the bot gives up.
 */
const steps = [
  'on_joined',
  'on_dialin_ready',
  'on_dialin_ready',
  'on_dialout_answered',
  ...Array.from({ length: 6 }, () => 'on_dialout_error'),
  'on_client_connected',
  'on_client_ready',
  'on_user_turn_stopped',
  'on_assistant_turn_stopped',
  'on_audio_data',
  'on_dialin_error',
  'on_client_disconnected',
];

/** Request bodies: a callee by phone number, a callee by SIP address, and a call that the carrier holds. */
export const dialOutRequestBody = { phone_number: '+15550003', caller_id: 'a verified number' };
export const sipDialOutRequestBody = { sip_uri: 'sip:somebody@example.com' };
export const inboundCallRequestBody = { call_sid: 'CA1', from_number: '+15550001' };

/** All sessions that a client can request from a bot. */
export function listSessions({
  transports = [],
  enable_eval,
  enable_observability,
}: ProjectOptions): readonly Session[] {
  const session = (entryPoint: SessionEntryPoint, body: unknown = {}, reachable = true) => ({
    entryPoint,
    body,
    reachable,
    local: true,
    steps,
  });
  const alone = transports.length === 1 && enable_eval !== true;
  const both = (body: unknown) => [
    session('plain', body),
    session('plain', body, false),
    ...(alone ? [session('plain')] : []),
  ];
  const all = [
    ...transports.flatMap((value) => {
      const entryPoint = carriersByTransport[value] ?? browserTransportsByName[value];
      if (entryPoint !== undefined) return [session(entryPoint)];
      if (value === 'hostedrtc_pstn_dialin') return [session('dial-in')];
      if (value === 'carrier1_hostedrtc_sip_dialin') return both(inboundCallRequestBody);
      return both({
        dialout_settings: value === 'hostedrtc_pstn_dialout' ? dialOutRequestBody : sipDialOutRequestBody,
      });
    }),
    ...(enable_eval === true ? [session('eval')] : []),
  ];
  const deployed = enable_observability === true ? all.slice(0, 1) : [];
  return [...all, ...deployed.map((one) => ({ ...one, local: false }))];
}
