import type { ProjectOptions } from '../../src/scaffold/configuration/fields.ts';

/** How the runner starts a session, whether those answer whom the bot rings or asks, and what happens then. */
export type Session = {
  readonly way: Way;
  readonly body: unknown;
  readonly reachable: boolean;
  /** Whether it is on somebody's own machine. */
  readonly local: boolean;
  readonly steps: readonly string[];
};
/** A key of `transport_params`, a call into a hosted room, or a start without any transport. */
export type Way = Carrier | Browser | 'eval' | 'dial-in' | 'plain';
type Carrier = 'twilio' | 'telnyx' | 'plivo' | 'exotel';
type Browser = 'daily' | 'livekit' | 'webrtc' | 'websocket';

export const carriers: Readonly<Record<string, Carrier>> = {
  carrier1: 'twilio',
  carrier2: 'telnyx',
  carrier3: 'plivo',
  carrier4: 'exotel',
};
export const browsers: Readonly<Record<string, Browser>> = {
  hostedrtc: 'daily',
  livekit: 'livekit',
  lightrtc: 'webrtc',
  websocket: 'websocket',
};

/** Everything that can happen, in an order in which it does. Once more than the attempts that a bot has. */
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

/** Whom a bot rings, and the call that waits for one. */
export const callee = { phone_number: '+15550003', caller_id: 'a verified number' };
export const bridgedCallee = { sip_uri: 'sip:somebody@example.com' };
export const waiting = { call_sid: 'CA1', from_number: '+15550001' };

/** All sessions that a bot can be asked for. */
export function sessionsOf({ transports = [], enable_eval, enable_observability }: ProjectOptions): readonly Session[] {
  const session = (way: Way, body: unknown = {}, reachable = true) => ({ way, body, reachable, local: true, steps });
  const alone = transports.length === 1 && enable_eval !== true;
  const both = (body: unknown) => [
    session('plain', body),
    session('plain', body, false),
    ...(alone ? [session('plain')] : []),
  ];
  const all = [
    ...transports.flatMap((value) => {
      const way = carriers[value] ?? browsers[value];
      if (way !== undefined) return [session(way)];
      if (value === 'hostedrtc_pstn_dialin') return [session('dial-in')];
      if (value === 'carrier1_hostedrtc_sip_dialin') return both(waiting);
      return both({ dialout_settings: value === 'hostedrtc_pstn_dialout' ? callee : bridgedCallee });
    }),
    ...(enable_eval === true ? [session('eval')] : []),
  ];
  const deployed = enable_observability === true ? all.slice(0, 1) : [];
  return [...all, ...deployed.map((one) => ({ ...one, local: false }))];
}
