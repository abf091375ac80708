import type { BotConversationLine, ConversationLine, ConversationLineOf } from '@bothost/contract';
import type { PublishedEvent, PublishedProperties } from './published-event.ts';
import { divideResponse } from './response-parts.ts';

type Line<Kind extends BotConversationLine['kind']> = ConversationLineOf<Kind>;

/** What was stored so far, as far as later lines follow from it. */
type Conversation = {
  readonly turns: Map<number, Line<'turn'>>;
  latestTurn: Line<'turn'> | undefined;
  readonly speech: Map<'user' | 'bot', Line<'speech'>>;
  readonly responses: Map<number, Line<'response'>>;
  readonly tools: Map<string, Line<'tool'>>;
  services: Line<'services'>['services'];
};

/** When an event was received and posted, in milliseconds since the session's start, and the conversion of its other times. */
type Clock = { readonly at: number; readonly postedAt: number; readonly toMs: (timestamp: number) => number };

/** Converts the events of one session to lines of its conversation. */
export type PublishedLines = {
  /**
   * Returns the lines that follow from an event, received `at` and posted `postedAt`, in milliseconds of the Unix time, in a session
   * that began at `startedAt`. They are not valid if the times of the event cannot be true.
   */
  readonly convert: (
    event: PublishedEvent,
    times: { readonly at: number; readonly postedAt: number; readonly startedAt: number },
  ) => readonly BotConversationLine[];
  /** Call this for each line that was stored, in order. The next events are converted accordingly. */
  readonly record: (line: ConversationLine) => void;
};

/** Maximum milliseconds from the end of the user's speech to the turn that begins because of it. */
const turnDelayMs = 5_000;

/** Lines of one kind from which later ones can follow. */
const rememberedLines = 1_000;

const toolStates = {
  function_call_started: 'running',
  function_call_in_progress: 'running',
  function_call_completed: 'completed',
  function_call_failed: 'failed',
  function_call_timed_out: 'timed-out',
  function_call_cancelled: 'cancelled',
} as const;

/**
 * All state follows from the stored lines, so that a restarted server continues where the former one stopped. An image posts each
 * event by itself, so that events can arrive in another order than they happened: their own times count.
 */
export function createPublishedLines(): PublishedLines {
  const conversation: Conversation = {
    turns: new Map(),
    latestTurn: undefined,
    speech: new Map(),
    responses: new Map(),
    tools: new Map(),
    services: [],
  };
  return {
    convert: (event, { at, postedAt, startedAt }) => {
      // An event of the session cannot be earlier than its start. The clock of the bot is that of the machine.
      const sinceStart = (ms: number) => Math.max(0, Math.round(ms - startedAt));
      const toMs = (timestamp: number) => sinceStart(timestamp * 1000);
      return convert(conversation, { at: sinceStart(at), postedAt: sinceStart(postedAt), toMs }, event);
    },
    record: (line) => record(conversation, line),
  };
}

function record(conversation: Conversation, line: ConversationLine): void {
  switch (line.kind) {
    case 'turn':
      remember(conversation.turns, line.turn, line);
      if (line.turn >= (conversation.latestTurn?.turn ?? 0)) conversation.latestTurn = line;
      break;
    case 'speech':
      conversation.speech.set(line.side, line);
      break;
    case 'response':
      remember(conversation.responses, line.turn, line);
      break;
    case 'tool':
      remember(conversation.tools, line.id, line);
      break;
    case 'services':
      conversation.services = line.services;
      break;
    default:
      break;
  }
}

/** Forgets the line that was added first once there are many, so that no bot can fill the memory. */
function remember<Key, Value>(lines: Map<Key, Value>, key: Key, line: Value): void {
  lines.set(key, line);
  const [oldest] = lines.keys();
  if (lines.size > rememberedLines && oldest !== undefined) lines.delete(oldest);
}

function convert(conversation: Conversation, clock: Clock, event: PublishedEvent): readonly BotConversationLine[] {
  switch (event.event_name) {
    case 'speech_event':
      return convertSpeech(conversation, clock, event.event_properties);
    case 'latency_breakdown':
      return convertBreakdown(conversation, clock, event.event_properties);
    case 'user_bot_latency':
      return convertLatency(conversation, clock, 'silence', event.event_properties);
    case 'first_bot_speech_latency':
      return convertLatency(conversation, clock, 'connect', event.event_properties);
    case 'service_usage':
      return convertUsage(conversation, clock, event.event_properties);
    case 'function_call_event':
      return convertToolCall(conversation, clock, event.event_properties);
    case 'error':
      return convertError(conversation, clock, event.event_properties);
  }
}

function convertSpeech(
  conversation: Conversation,
  { at, toMs }: Clock,
  { kind, timestamp, started_at }: PublishedProperties<'speech_event'>,
): readonly BotConversationLine[] {
  const time = toMs(timestamp);
  const latest = conversation.latestTurn;
  const [user, bot] = [conversation.speech.get('user'), conversation.speech.get('bot')];
  switch (kind) {
    case 'user_speech_started': {
      // Pipecat reports the speech of the user twice.
      if (user?.to === null || user?.from === time) return [];
      const turn = isUserTurnOpen(latest) ? { turn: latest.turn } : {};
      return [{ kind: 'speech', at, side: 'user', from: time, to: null, ...turn }];
    }
    case 'user_speech_stopped': {
      const open = user?.to === null ? user : null;
      if (open === null && (started_at === undefined || user?.to === time)) return [];
      const from = open?.from ?? toMs(started_at ?? timestamp);
      return [{ kind: 'speech', at, side: 'user', from, ...turnOf(open), to: Math.max(from, time) }];
    }
    case 'user_turn_started':
      return startUserTurn(conversation, at, time);
    case 'user_turn_stopped':
      if (!isUserTurnOpen(latest)) return [];
      return [{ ...latest, at, released: Math.max(latest.from, time) }];
    case 'bot_speech_started': {
      if (bot?.to === null) return [];
      const turn = latest ?? { kind: 'turn', at, turn: 0, from: time, to: null };
      return [
        ...(turn === latest && turn.to === null ? [] : [{ ...turn, at, to: null }]),
        { kind: 'speech', at, side: 'bot', from: time, to: null, turn: turn.turn },
        ...respondSinceRelease(conversation, at, time),
      ];
    }
    case 'bot_speech_stopped': {
      if (bot?.to !== null) return [];
      const to = Math.max(bot.from, time);
      const isOver = latest?.turn === bot.turn && [...conversation.tools.values()].every((tool) => tool.to !== null);
      return [{ ...bot, at, to }, ...(isOver && latest !== undefined ? [{ ...latest, at, to }] : [])];
    }
    case 'interruption': {
      // Pipecat reports one at each start of a user's turn, also while the bot is silent.
      const turn = conversation.turns.get(bot?.turn ?? 0);
      const isSpeaking = bot !== undefined && bot.from <= time && (bot.to === null || bot.to >= time);
      return isSpeaking && turn !== undefined && turn.interrupted !== true ? [{ ...turn, at, interrupted: true }] : [];
    }
  }
}

function startUserTurn(conversation: Conversation, at: number, time: number): readonly BotConversationLine[] {
  const latest = conversation.latestTurn;
  const speech = conversation.speech.get('user');
  const isCause = speech !== undefined && speech.turn === undefined && (speech.to ?? time) >= time - turnDelayMs;
  const from = isCause ? speech.from : time;
  const turn = (latest?.turn ?? 0) + 1;
  return [
    ...(latest?.to === null ? [{ ...latest, at, to: Math.max(latest.from, from) }] : []),
    { kind: 'turn', at, turn, from, to: null },
    ...(isCause ? [{ ...speech, at, turn }] : []),
  ];
}

function convertBreakdown(
  conversation: Conversation,
  clock: Clock,
  breakdown: PublishedProperties<'latency_breakdown'>,
): readonly BotConversationLine[] {
  const { measured_from, total_secs, user_turn_start_time: startTime, user_turn_secs: userSeconds } = breakdown;
  const { at, postedAt, toMs } = clock;
  const from = startTime === undefined ? Math.max(0, postedAt - Math.round(total_secs * 1000)) : toMs(startTime);
  const to = startTime === undefined ? from + Math.round(total_secs * 1000) : toMs(startTime + total_secs);
  const releasedAt = startTime === undefined || userSeconds === undefined ? from : toMs(startTime + userSeconds);
  const parts = divideResponse(
    breakdown.contributions.map((part) => ({
      key: part.key,
      service: part.owner_kind === 'service' ? part.owner : null,
      from: toMs(part.start_time),
      to: toMs(part.start_time + part.duration_secs),
    })),
    { from, to, releasedAt },
  );
  return respond(conversation, at, measured_from === 'client_connected' ? 'connect' : 'silence', { from, to, parts });
}

function convertLatency(
  conversation: Conversation,
  { at, postedAt, toMs }: Clock,
  measuredFrom: 'silence' | 'connect',
  { latency_secs, timestamp }: PublishedProperties<'user_bot_latency'>,
): readonly BotConversationLine[] {
  const to = timestamp === undefined ? postedAt : toMs(timestamp);
  return respond(conversation, at, measuredFrom, {
    from: Math.max(0, to - Math.round(latency_secs * 1000)),
    to,
    parts: [],
  });
}

/** Only the first response of a turn counts. The same one with its parts replaces the one without. */
function respond(
  { turns, responses }: Conversation,
  at: number,
  measuredFrom: 'silence' | 'connect',
  { from, to, parts }: { readonly from: number; readonly to: number; readonly parts: Line<'response'>['parts'] },
): readonly BotConversationLine[] {
  const turn = measuredFrom === 'connect' ? 0 : findTurnAt(turns, to);
  if (turn === null) return [];
  const known = responses.get(turn);
  if (known !== undefined && (known.parts.length > 0 || parts.length === 0)) return [];
  return [{ kind: 'response', at, turn, from, ms: to - from, measuredFrom, parts }];
}

/** The response of a bot without voice detection: a service decided the user's turn, and Pipecat measures nothing. */
function respondSinceRelease(
  { latestTurn, speech, responses }: Conversation,
  at: number,
  time: number,
): readonly BotConversationLine[] {
  const released = latestTurn?.released ?? null;
  if (latestTurn === undefined || latestTurn.turn === 0 || released === null) return [];
  if (responses.has(latestTurn.turn) || speech.get('user')?.turn === latestTurn.turn) return [];
  const ms = Math.max(0, time - released);
  return [{ kind: 'response', at, turn: latestTurn.turn, from: released, ms, measuredFrom: 'release', parts: [] }];
}

/** The number of the user's turn to which the bot responded at a time. */
function findTurnAt(turns: Conversation['turns'], time: number): number | null {
  const numbers = [...turns.values()].filter((turn) => turn.turn > 0 && turn.from <= time).map((turn) => turn.turn);
  return numbers.length === 0 ? null : Math.max(...numbers);
}

function convertUsage(
  { services, latestTurn }: Conversation,
  { at }: Clock,
  usage: PublishedProperties<'service_usage'>,
): readonly BotConversationLine[] {
  const service = toName(usage.processor);
  const model = usage.model === undefined || usage.model === '' ? {} : { model: toName(usage.model) };
  const described: Line<'services'>['services'][number] = { name: service, role: usage.kind, ...model };
  const known = services.find(({ name }) => name === service);
  const isNew = known === undefined || known.model !== described.model;
  const others = services.filter(({ name }) => name !== service);
  const counts = {
    audioMs: usage.audio_seconds === undefined ? undefined : Math.round(usage.audio_seconds * 1000),
    characters: usage.characters,
    inputTokens: usage.prompt_tokens,
    outputTokens: usage.completion_tokens,
    totalTokens: usage.total_tokens,
    cacheReadTokens: usage.cache_read_input_tokens,
    cacheWriteTokens: usage.cache_creation_input_tokens,
    reasoningTokens: usage.reasoning_tokens,
    inputAudioTokens: usage.input_audio_tokens,
    outputAudioTokens: usage.output_audio_tokens,
  };
  return [
    ...(isNew ? [{ kind: 'services' as const, at, writer: 'pipecat-cloud', services: [...others, described] }] : []),
    { kind: 'usage' as const, at, role: usage.kind, service, ...model, ...counts, ...turnOf(latestTurn) },
  ];
}

function convertToolCall(
  { tools, latestTurn }: Conversation,
  { at, toMs }: Clock,
  call: PublishedProperties<'function_call_event'>,
): readonly BotConversationLine[] {
  const id = toName(call.tool_call_id);
  const known = tools.get(id);
  const state = toolStates[call.kind];
  if (known !== undefined && (known.to !== null || state === 'running')) return [];
  const time = toMs(call.timestamp);
  const from = known?.from ?? toMs(call.in_progress_at ?? call.timestamp);
  const to = state === 'running' ? null : Math.max(from, time);
  return [{ kind: 'tool', at, id, name: toName(call.function_name), ...turnOf(known ?? latestTurn), state, from, to }];
}

function convertError(
  { latestTurn }: Conversation,
  { at }: Clock,
  { category, processor, exception_type }: PublishedProperties<'error'>,
): readonly BotConversationLine[] {
  const exceptionType = exception_type === undefined ? {} : { exceptionType: toName(exception_type) };
  return [{ kind: 'error', at, category, service: toName(processor), ...exceptionType, ...turnOf(latestTurn) }];
}

function isUserTurnOpen(turn: Line<'turn'> | undefined): turn is Line<'turn'> {
  return turn !== undefined && turn.turn > 0 && (turn.released ?? null) === null;
}

function turnOf(line: { readonly turn?: number | undefined } | null | undefined): { readonly turn?: number } {
  return line?.turn === undefined ? {} : { turn: line.turn };
}

/** A name that a line may contain. Names of processors and tools are those of the bot's author. */
function toName(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}]/gu, '').slice(0, 200);
}
