import type { ServiceKind } from '../../src/scaffold/catalogue/service.ts';
import { findService } from '../../src/scaffold/catalogue/services.ts';
import type { ProjectOptions } from '../../src/scaffold/configuration/fields.ts';
import { bridgedCallee, browsers, callee, carriers, type Session, type Way, waiting } from './sessions.ts';

/** What `hold_sessions.py` saw of a session. `effects`: what the bot did at its start, and at each step. */
export type Held = {
  readonly transport: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly rates: readonly [number, number];
  readonly stages: readonly string[];
  readonly tools: readonly string[];
  readonly workers: readonly string[];
  readonly observers: readonly string[];
  /** Handlers for events that there are not. */
  readonly unknown: readonly string[];
  readonly effects: readonly (readonly string[])[];
  readonly error: string | null;
};

const opened: Readonly<Record<Way, string>> = {
  daily: 'DailyTransport',
  livekit: 'LiveKitTransport',
  webrtc: 'SmallWebRTCTransport',
  websocket: 'FastAPIWebsocketTransport',
  twilio: 'FastAPIWebsocketTransport',
  telnyx: 'FastAPIWebsocketTransport',
  plivo: 'FastAPIWebsocketTransport',
  exotel: 'FastAPIWebsocketTransport',
  eval: 'EvalFastAPIWebsocketTransport',
  'dial-in': 'DailyTransport',
  plain: 'DailyTransport',
};
const serializers: Readonly<Record<string, string>> = {
  websocket: 'ProtobufFrameSerializer',
  twilio: 'TwilioFrameSerializer',
  telnyx: 'TelnyxFrameSerializer',
  plivo: 'PlivoFrameSerializer',
  exotel: 'ExotelFrameSerializer',
  eval: 'EvalSerializer',
};
/** What a carrier says of who rings; the others say nothing. */
const numbers: Readonly<Record<string, string>> = { twilio: '+15550001', telnyx: '+15550001', exotel: '+15550001' };
/** What has to come of it (reference init, 17 and 21: "contract"; defects D13, D17, D31, D33). */
export function expected(given: ProjectOptions, session: Session): Partial<Held> {
  const { mode, video_input, enable_observability } = given;
  const refusal = refusalOf(given, session);
  if (refusal !== null) return { unknown: [], effects: [[]], error: refusal };
  const transport = opened[session.way];
  const before = (index: number, step: string) => session.steps.slice(0, index).filter((one) => one === step).length;
  return {
    transport,
    parameters: parametersOf(given, session),
    rates: isNarrow(given, session) ? [8000, 8000] : [16000, 24000],
    stages: stagesOf(given, transport),
    // A plain WebSocket carries no pictures.
    tools: mode === 'cascade' && video_input === true && session.way !== 'websocket' ? ['look'] : [],
    // A debugger listens on a port: on one's own machine only.
    workers: enable_observability === true && session.local ? ['WhiskerServer', 'PipelineWorker'] : ['PipelineWorker'],
    observers: enable_observability === true && session.local ? ['WhiskerObserver'] : [],
    unknown: [],
    effects: [startOf(session), ...session.steps.map((step, at) => effectOf(step, before(at, step), given, session))],
    error: null,
  };
}

/** Carriers' streams are, and so is whoever rings the bot otherwise, where it takes both. */
function isNarrow({ mode, transports = [] }: ProjectOptions, session: Session): boolean {
  return mode === 'cascade' && other(session) === 'caller' && transports.some((value) => value in carriers);
}

/** A bot that only makes calls, or only takes those that wait for it, is started with one. */
function refusalOf({ transports = [], enable_eval }: ProjectOptions, { way, body }: Session): string | null {
  if (way !== 'plain' || body === waiting || JSON.stringify(body).includes('dialout_settings')) return null;
  if (enable_eval === true || transports.length > 1) return null;
  const key = transports[0] === 'carrier1_hostedrtc_sip_dialin' ? 'call_sid' : 'dialout_settings';
  return `ValueError: the body of the start request has no ${key}`;
}

/** A call that the bot makes, or one that waits for it: both get a room of their own. */
function startOf({ way, body }: Session): readonly string[] {
  if (way !== 'plain') return [];
  if (body === waiting) return [`room: {"sip_caller_phone": "${waiting.from_number}"}`];
  return [
    `room: {"sip_caller_phone": "${isBridged(body) ? bridgedCallee.sip_uri : callee.phone_number}", "enable_dialout": true}`,
  ];
}

function isBridged(body: unknown): boolean {
  return JSON.stringify(body).includes('sip_uri');
}

/** Who speaks with the bot: somebody who rang it, somebody whom it rings, or a client that says when it is ready. */
function other({ way, body }: Session): 'caller' | 'callee' | 'client' {
  if (way === 'plain') return body === waiting ? 'caller' : 'callee';
  return way === 'dial-in' || isCarrier(way) ? 'caller' : 'client';
}

function isCarrier(way: Way): boolean {
  return Object.values(carriers).some((one) => one === way);
}

const attempts = 5;

/** What the bot does about the step; `times`: how often it has happened before. */
function effectOf(step: string, times: number, given: ProjectOptions, session: Session): readonly string[] {
  const { transports = [], enable_eval, transcription, recording } = given;
  const greets = ['queues: LLMRunFrame'];
  const inRoom = session.way === 'daily' || session.way === 'dial-in' || session.way === 'plain';
  switch (step) {
    case 'on_client_connected': {
      const number = numbers[session.way] ?? 'unknown number';
      const said = transports.some((value) => value in carriers) ? `says: Connected: ${number}` : 'says: Connected';
      return [said, ...(other(session) === 'caller' ? greets : [])];
    }
    case 'on_client_ready':
      return enable_eval === true || transports.some((value) => value in browsers) ? greets : [];
    case 'on_client_disconnected':
      return ['says: Disconnected', 'ends'];
    case 'on_user_turn_stopped':
      return transcription === true ? ['says: User: Hello?'] : [];
    case 'on_assistant_turn_stopped':
      return transcription === true ? ['says: Bot: Hello!'] : [];
    case 'on_audio_data':
      return recording === true ? ['says: Recorded recordings/TIME.wav', 'recorded: 4 samples at 16000 Hz'] : [];
    case 'on_dialin_ready':
      return session.body === waiting && times === 0 ? forwarded(session) : [];
    case 'on_dialin_error': {
      const isRungThere = session.body === waiting || (inRoom && transports.includes('hostedrtc_pstn_dialin'));
      return isRungThere ? ['says: The call failed: gone', 'ends: the call failed'] : [];
    }
    default:
      return other(session) === 'callee' ? dialled(step, times, session) : [];
  }
}

/** The carrier is told once where to lead the call. */
function forwarded({ reachable }: Session): readonly string[] {
  const account = Buffer.from('placeholder:placeholder').toString('base64');
  const twiml = '<Response><Dial><Sip>sip:room&amp;1@sip.example.com</Sip></Dial></Response>';
  const url = `https://api.twilio.com/2010-04-01/Accounts/placeholder/Calls/${waiting.call_sid}.json`;
  return [
    `POST ${url} as Basic ${account}: {"Twiml": "${twiml}"}`,
    ...(reachable
      ? []
      : ['says: The carrier could not connect the call: no answer', 'ends: the call could not be connected']),
  ];
}

/** Five times at most, then it ends. */
function dialled(step: string, times: number, { body, reachable }: Session): readonly string[] {
  const settings = isBridged(body)
    ? `{"sipUri": "${bridgedCallee.sip_uri}"}`
    : `{"phoneNumber": "${callee.phone_number}", "callerId": "${callee.caller_id}"}`;
  const ring = (attempt: number) => [`says: Ringing, attempt ${attempt} of ${attempts}`, `rings: ${settings}`];
  const failed = (reason: string) => `says: Could not reach the callee: ${reason}`;
  const ended = 'ends: nobody could be reached';
  if (step === 'on_dialout_answered') return ['says: The callee has answered'];
  if (step === 'on_joined') {
    if (reachable) return ring(1);
    const all = Array.from({ length: attempts }, (_, index) => [...ring(index + 1), failed('unreachable')]);
    return [...all.flat(), ended];
  }
  if (step !== 'on_dialout_error') return [];
  const made = reachable ? times + 1 : attempts;
  return [failed('busy'), ...(made < attempts ? ring(made + 1) : [ended])];
}

/** What is not as the library has it by itself. */
function parametersOf(given: ProjectOptions, { way }: Session): Readonly<Record<string, unknown>> {
  const { mode, enable_nc, video_input, video_output, video_service } = given;
  const both = { audio_in_enabled: true, audio_out_enabled: true };
  const serializer = serializers[way];
  if (way === 'eval') return { ...both, serializer, ...(video_input === true ? { video_in_enabled: true } : {}) };
  const shows = video_output === true || video_service !== undefined;
  const camera = mode === 'cascade' ? { on_request_only: true } : { framerate: 1 };
  return {
    ...both,
    ...(enable_nc === true ? { audio_in_filter: 'RNNoiseFilter' } : {}),
    ...(serializer === undefined ? {} : { serializer }),
    ...(way === 'dial-in' ? { api_key: '3', api_url: '4', dialin_settings: { call_id: '1', call_domain: '2' } } : {}),
    ...(seesAndShows(way) && video_input === true ? { video_in_enabled: true, video_in_sources: { camera } } : {}),
    ...(seesAndShows(way) && shows ? { video_out_enabled: true, video_out_is_live: true } : {}),
  };
}

function seesAndShows(way: Way): boolean {
  return way === 'daily' || way === 'livekit' || way === 'webrtc';
}

/** In the order of the pipeline. */
function stagesOf({ mode, recording, ...given }: ProjectOptions, transport: string): readonly string[] {
  const kind = transport.replace(/Transport$/, '');
  const named = (service: ServiceKind) => {
    const value = given[`${service}_service`];
    return value === undefined ? [] : [findService(service, value)?.service.className ?? value];
  };
  const model = mode === 'cascade' ? named('llm') : named('realtime');
  return [
    `${kind}InputTransport`,
    ...named('stt'),
    'LLMUserAggregator',
    ...model,
    ...named('tts'),
    ...named('video'),
    `${kind}OutputTransport`,
    ...(recording === true ? ['AudioBufferProcessor'] : []),
    'LLMAssistantAggregator',
  ];
}
