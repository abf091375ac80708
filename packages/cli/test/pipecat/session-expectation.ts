import { findService } from '../../src/scaffold/catalogue/services.ts';
import type { ServiceKind } from '../../src/scaffold/catalogue/vendor-service.ts';
import type { ProjectOptions } from '../../src/scaffold/configuration/fields.ts';
import {
  browserTransportsByName,
  carriersByTransport,
  dialOutRequestBody,
  inboundCallRequestBody,
  type Session,
  type SessionEntryPoint,
  sipDialOutRequestBody,
} from './sessions.ts';

/**
 * What `run_sessions.py` reports about a session. `effects` are the bot's actions at the start of the session and at each step.
 */
export type ObservedSession = {
  readonly transport: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly rates: readonly [number, number];
  readonly stages: readonly string[];
  readonly tools: readonly string[];
  readonly workers: readonly string[];
  readonly observers: readonly string[];
  readonly unknown: readonly string[];
  readonly effects: readonly (readonly string[])[];
  readonly error: string | null;
};

const opened: Readonly<Record<SessionEntryPoint, string>> = {
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
/** The caller's phone number, by carrier. Omits carriers that do not send the number. */
const numbers: Readonly<Record<string, string>> = { twilio: '+15550001', telnyx: '+15550001', exotel: '+15550001' };
export function computeExpectedSession(given: ProjectOptions, session: Session): Partial<ObservedSession> {
  const { mode, video_input, enable_observability } = given;
  const refusal = startErrorOf(given, session);
  if (refusal !== null) return { unknown: [], effects: [[]], error: refusal };
  const transport = opened[session.entryPoint];
  const before = (index: number, step: string) => session.steps.slice(0, index).filter((one) => one === step).length;
  return {
    transport,
    parameters: parametersOf(given, session),
    rates: usesPhoneRate(given, session) ? [8000, 8000] : [16000, 24000],
    stages: stagesOf(given, transport),
    // A plain WebSocket carries no video, so the bot has no camera tool.
    tools: mode === 'cascade' && video_input === true && session.entryPoint !== 'websocket' ? ['look'] : [],
    // Pipecat's debugger opens a port, so it runs only in local sessions.
    workers: enable_observability === true && session.local ? ['WhiskerServer', 'PipelineWorker'] : ['PipelineWorker'],
    observers: enable_observability === true && session.local ? ['WhiskerObserver'] : [],
    unknown: [],
    effects: [
      startEffects(session),
      ...session.steps.map((step, at) => effectOf(step, before(at, step), given, session)),
    ],
    error: null,
  };
}

function usesPhoneRate({ mode, transports = [] }: ProjectOptions, session: Session): boolean {
  return (
    mode === 'cascade' && partnerOf(session) === 'caller' && transports.some((value) => value in carriersByTransport)
  );
}

/** Returns the expected error if the bot needs a phone call but the start request contains no call. Otherwise returns null. */
function startErrorOf({ transports = [], enable_eval }: ProjectOptions, { entryPoint, body }: Session): string | null {
  if (entryPoint !== 'plain' || body === inboundCallRequestBody || JSON.stringify(body).includes('dialout_settings'))
    return null;
  if (enable_eval === true || transports.length > 1) return null;
  const key = transports[0] === 'carrier1_hostedrtc_sip_dialin' ? 'call_sid' : 'dialout_settings';
  return `ValueError: the body of the start request has no ${key}`;
}

function startEffects({ entryPoint, body }: Session): readonly string[] {
  if (entryPoint !== 'plain') return [];
  if (body === inboundCallRequestBody) return [`room: {"sip_caller_phone": "${inboundCallRequestBody.from_number}"}`];
  return [
    `room: {"sip_caller_phone": "${isBridged(body) ? sipDialOutRequestBody.sip_uri : dialOutRequestBody.phone_number}", "enable_dialout": true}`,
  ];
}

function isBridged(body: unknown): boolean {
  return JSON.stringify(body).includes('sip_uri');
}

/** Returns who talks to the bot: a caller, a callee, or a client that reports when it is ready. */
function partnerOf({ entryPoint, body }: Session): 'caller' | 'callee' | 'client' {
  if (entryPoint === 'plain') return body === inboundCallRequestBody ? 'caller' : 'callee';
  return entryPoint === 'dial-in' || isCarrier(entryPoint) ? 'caller' : 'client';
}

function isCarrier(entryPoint: SessionEntryPoint): boolean {
  return Object.values(carriersByTransport).some((one) => one === entryPoint);
}

const attempts = 5;

/**
 * Returns the bot's expected actions after the event `step`. `times` is the number of earlier occurrences of this event in the
 * session.
 */
function effectOf(step: string, times: number, given: ProjectOptions, session: Session): readonly string[] {
  const { transports = [], enable_eval, transcription, recording } = given;
  const greets = ['queues: LLMRunFrame'];
  const inRoom = session.entryPoint === 'daily' || session.entryPoint === 'dial-in' || session.entryPoint === 'plain';
  switch (step) {
    case 'on_client_connected': {
      const number = numbers[session.entryPoint] ?? 'unknown number';
      const connectMessage = transports.some((value) => value in carriersByTransport)
        ? `says: Connected: ${number}`
        : 'says: Connected';
      return [connectMessage, ...(partnerOf(session) === 'caller' ? greets : [])];
    }
    case 'on_client_ready':
      return enable_eval === true || transports.some((value) => value in browserTransportsByName) ? greets : [];
    case 'on_client_disconnected':
      return ['says: Disconnected', 'ends'];
    case 'on_user_turn_stopped':
      return transcription === true ? ['says: User: Hello?'] : [];
    case 'on_assistant_turn_stopped':
      return transcription === true ? ['says: Bot: Hello!'] : [];
    case 'on_audio_data':
      return recording === true ? ['says: Recorded recordings/TIME.wav', 'recorded: 4 samples at 16000 Hz'] : [];
    case 'on_dialin_ready':
      return session.body === inboundCallRequestBody && times === 0 ? forwardEffects(session) : [];
    case 'on_dialin_error': {
      const isCalled =
        session.body === inboundCallRequestBody || (inRoom && transports.includes('hostedrtc_pstn_dialin'));
      return isCalled ? ['says: The call failed: gone', 'ends: the call failed'] : [];
    }
    default:
      return partnerOf(session) === 'callee' ? dialOutEffects(step, times, session) : [];
  }
}

/** The bot sends the carrier a single request, with the SIP address of the room to which the carrier connects the call. */
function forwardEffects({ reachable }: Session): readonly string[] {
  const account = Buffer.from('placeholder:placeholder').toString('base64');
  const twiml = '<Response><Dial><Sip>sip:room&amp;1@sip.example.com</Sip></Dial></Response>';
  const url = `https://api.twilio.com/2010-04-01/Accounts/placeholder/Calls/${inboundCallRequestBody.call_sid}.json`;
  return [
    `POST ${url} as Basic ${account}: {"Twiml": "${twiml}"}`,
    ...(reachable
      ? []
      : ['says: The carrier could not connect the call: no answer', 'ends: the call could not be connected']),
  ];
}

/** The bot makes at most five attempts to reach a callee, then ends the session. */
function dialOutEffects(step: string, times: number, { body, reachable }: Session): readonly string[] {
  const settings = isBridged(body)
    ? `{"sipUri": "${sipDialOutRequestBody.sip_uri}"}`
    : `{"phoneNumber": "${dialOutRequestBody.phone_number}", "callerId": "${dialOutRequestBody.caller_id}"}`;
  const ring = (attempt: number) => [`says: Calling, attempt ${attempt} of ${attempts}`, `rings: ${settings}`];
  const failed = (reason: string) => `says: The call failed: ${reason}`;
  const ended = 'ends: the call failed';
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

function parametersOf(given: ProjectOptions, { entryPoint }: Session): Readonly<Record<string, unknown>> {
  const { mode, enable_nc, video_input, video_output, video_service } = given;
  const both = { audio_in_enabled: true, audio_out_enabled: true };
  const serializer = serializers[entryPoint];
  if (entryPoint === 'eval')
    return { ...both, serializer, ...(video_input === true ? { video_in_enabled: true } : {}) };
  const shows = video_output === true || video_service !== undefined;
  const camera = mode === 'cascade' ? { on_request_only: true } : { framerate: 1 };
  return {
    ...both,
    ...(enable_nc === true ? { audio_in_filter: 'RNNoiseFilter' } : {}),
    ...(serializer === undefined ? {} : { serializer }),
    ...(entryPoint === 'dial-in'
      ? { api_key: '3', api_url: '4', dialin_settings: { call_id: '1', call_domain: '2' } }
      : {}),
    ...(seesAndShows(entryPoint) && video_input === true
      ? { video_in_enabled: true, video_in_sources: { camera } }
      : {}),
    ...(seesAndShows(entryPoint) && shows ? { video_out_enabled: true, video_out_is_live: true } : {}),
  };
}

function seesAndShows(entryPoint: SessionEntryPoint): boolean {
  return entryPoint === 'daily' || entryPoint === 'livekit' || entryPoint === 'webrtc';
}

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
