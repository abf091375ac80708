import { z } from 'zod';

/**
 * An event that the base image of Pipecat Cloud posts to the URL in PIPECAT_EVENT_PUBLISHER_ENDPOINT (`pcc_observers.py` in
 * daily-co/pipecat-cloud-images). Times are Unix timestamps in seconds. Fields that the service does not use, such as texts, are
 * removed.
 */
const time = z.number().min(0);
const seconds = z.number().min(0);
const name = z.string().min(1);
const count = z.int().min(0).optional();

const Speech = z.object({
  kind: z.enum([
    'user_speech_started',
    'user_speech_stopped',
    'user_turn_started',
    'user_turn_stopped',
    'bot_speech_started',
    'bot_speech_stopped',
    'interruption',
  ]),
  timestamp: time,
  started_at: time.optional(),
});

const Latency = z.object({ latency_secs: seconds, timestamp: time.optional() });

const Contribution = z.object({
  key: name,
  owner: name,
  owner_kind: name,
  start_time: time,
  duration_secs: seconds,
});

const LatencyBreakdown = z.object({
  measured_from: z.enum(['user_silence', 'client_connected']),
  total_secs: seconds,
  user_turn_start_time: time.optional(),
  user_turn_secs: seconds.optional(),
  contributions: z.array(Contribution).max(100).default([]),
});

const Usage = z.object({
  kind: name,
  processor: name,
  model: z.string().optional(),
  audio_seconds: seconds.optional(),
  characters: count,
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
  reasoning_tokens: count,
  input_audio_tokens: count,
  output_audio_tokens: count,
});

const FunctionCall = z.object({
  kind: z.enum([
    'function_call_started',
    'function_call_in_progress',
    'function_call_completed',
    'function_call_failed',
    'function_call_timed_out',
    'function_call_cancelled',
  ]),
  function_name: name,
  tool_call_id: name,
  timestamp: time,
  in_progress_at: time.optional(),
});

const ServiceError = z.object({ category: name, processor: name, exception_type: z.string().optional() });

const known = z.discriminatedUnion('event_name', [
  z.object({ event_name: z.literal('speech_event'), event_properties: Speech }),
  z.object({ event_name: z.literal('user_bot_latency'), event_properties: Latency }),
  z.object({ event_name: z.literal('first_bot_speech_latency'), event_properties: Latency }),
  z.object({ event_name: z.literal('latency_breakdown'), event_properties: LatencyBreakdown }),
  z.object({ event_name: z.literal('service_usage'), event_properties: Usage }),
  z.object({ event_name: z.literal('function_call_event'), event_properties: FunctionCall }),
  z.object({ event_name: z.literal('error'), event_properties: ServiceError }),
]);
const knownNames: ReadonlySet<string> = new Set(known.options.flatMap((option) => [...option.shape.event_name.values]));

/** What every event has. `ts` is the time of the post. */
export const PublishedEventEnvelope = z.object({
  session_id: z.string().max(200),
  ts: z.iso.datetime({ offset: true }),
  event_name: z.string().max(200),
});

export type PublishedEvent = z.infer<typeof known>;
export type PublishedProperties<Name extends PublishedEvent['event_name']> = Extract<
  PublishedEvent,
  { event_name: Name }
>['event_properties'];

/** Returns null for an event that adds nothing to a conversation, and `invalid` if the properties do not have the documented form. */
export function parsePublishedEvent(body: unknown, eventName: string): PublishedEvent | 'invalid' | null {
  if (!knownNames.has(eventName)) return null;
  const parsed = known.safeParse(body);
  return parsed.success ? parsed.data : 'invalid';
}
