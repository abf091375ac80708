import { z } from 'zod';
import { conversationLevels, conversationLimits } from './level.ts';

/**
 * The lines of a conversation, as a bot writes them to its conversation file (docs/bot-contract.md, "Conversation").
 *
 * Times are integer milliseconds since the session's start, which is when the bot received `POST /bot` or the WebSocket of `/ws`.
 *
 * A turn is what the user says until the bot has the floor, and what the bot then says. It begins when the user starts to speak, or
 * types, and ends when the next turn begins or when the bot has finished speaking and no tool is running. Turn 0 is what the bot says
 * before the user has said anything. The user's turns count from 1.
 *
 * A response is the time from the end of the user's part of a turn to the first audio that the bot sends in that turn. It is
 * measured from `silence`, when the user's voice fell silent as the bot's voice detection saw it, or from `release`, when the
 * service that decides the turns gave the turn to the bot. The two are never compared or mixed. `connect` is the time from the
 * connected client to the greeting in turn 0, and is not a response time of the statistics.
 *
 * A line may be written early and again when more is known: a later line replaces an earlier one with the same
 * `getConversationLineKey`.
 */
const maxTurns = 10_000;
const time = z.int().min(0).max(conversationLimits.timeMs);
const duration = time;
/** Without control characters and unpaired surrogates, which the database cannot store. */
const name = z.string().regex(/^[^\p{Cc}\p{Cs}]{1,200}$/u);
const word = z.string().regex(/^[A-Za-z][A-Za-z0-9_.-]{0,99}$/);
const text = z.string().max(conversationLimits.lineBytes);
const count = z.int().min(0).max(1_000_000_000);
const turn = z.int().min(0).max(maxTurns).describe('Number of the turn; 0 is what the bot says before the user');

const lineFields = {
  at: time.describe("When the line was written, in milliseconds since the session's start"),
  sessionId: z.string().optional().describe('Id of the session. A line with the id of another session is dropped'),
};

const conversationSides = ['user', 'bot'] as const;
export type ConversationSide = (typeof conversationSides)[number];

/** Roles of services. Other words are allowed, too. */
export const conversationServiceRoles = [
  'stt',
  'llm',
  'tts',
  'speech-to-speech',
  'turn-detection',
  'voice-detection',
  'transport',
] as const;

const ConversationService = z.object({
  name: name.describe('Name that other lines use for the service, unique in the session, such as OpenAILLMService#0'),
  role: word.describe(`What the service does: ${conversationServiceRoles.join(', ')} or another word`),
  vendor: name.optional().describe('Such as openai'),
  model: name.optional(),
});

/** Written once at the start, and again if a service is added or changes its model. */
const ServicesLine = z.object({
  kind: z.literal('services'),
  ...lineFields,
  startedAt: z.iso.datetime().optional().describe("The session's start, by the clock of the bot"),
  writer: name.optional().describe('What wrote the file, such as bothost-python 0.1.0'),
  framework: name.optional().describe('Such as pipecat-ai 1.14.0'),
  level: z
    .enum([...conversationLevels])
    .optional()
    .describe('The level with which the bot writes'),
  logLevel: word.optional().describe("Level of the bot's log, such as DEBUG"),
  services: z.array(ConversationService).max(50),
});

/** One span of speech. Written when it begins, with `to` null, and again when it has ended. */
const SpeechLine = z.object({
  kind: z.literal('speech'),
  ...lineFields,
  side: z.enum(conversationSides),
  from: time,
  to: time.nullable(),
  turn: turn.optional(),
});

/** Written when the turn begins, and again when it is released and when it has ended. */
const TurnLine = z.object({
  kind: z.literal('turn'),
  ...lineFields,
  turn,
  from: time,
  released: time
    .nullable()
    .optional()
    .describe("When the user's part ended and the bot began to work; null until then"),
  to: time.nullable().describe('Null while the turn is running'),
  interrupted: z
    .boolean()
    .optional()
    .describe('Whether the user began to speak while the bot was speaking in this turn'),
});

/**
 * What one side said in a turn. Only from the level `transcript` on. If the bot was interrupted, `text` is the part that was spoken
 * and `interrupted` is true.
 */
const SaidLine = z.object({
  kind: z.literal('said'),
  ...lineFields,
  turn,
  side: z.enum(conversationSides),
  text,
  from: time,
  to: time.nullable(),
  interrupted: z.boolean().optional(),
  language: word.optional(),
  typed: z.boolean().optional().describe('Whether the user typed the text'),
});

/** Stages of a response in the order in which they usually occur. Other words are allowed, too. */
export const responseStages = [
  'endpointing',
  'transcription',
  'turn-detection',
  'llm',
  'tool',
  'aggregation',
  'tts',
  'output',
  'user',
  'pipeline',
] as const;

const ResponsePart = z.object({
  stage: word.describe(`${responseStages.join(', ')}, or another word`),
  service: name.optional().describe('Name of the service, or of the tool'),
  from: time,
  ms: duration,
});

const responseOrigins = ['silence', 'release', 'connect'] as const;
export type ResponseOrigin = (typeof responseOrigins)[number];

/**
 * The response of a turn, written when the bot's first audio was sent. It begins at `from` and takes `ms`. The parts follow
 * each other, and their `ms` add up to the `ms` of the response, within 1 ms.
 */
const ResponseLine = z
  .object({
    kind: z.literal('response'),
    ...lineFields,
    turn,
    from: time,
    ms: duration,
    measuredFrom: z.enum(responseOrigins),
    parts: z.array(ResponsePart).max(100),
  })
  .refine(({ ms, parts }) => parts.length === 0 || Math.abs(parts.reduce((sum, part) => sum + part.ms, 0) - ms) <= 1, {
    error: 'The parts do not add up to the response.',
  });

export const toolStates = ['running', 'completed', 'failed', 'timed-out', 'cancelled'] as const;
export type ToolState = (typeof toolStates)[number];

/** One call of a tool. Written when it begins, and again when it has ended. `arguments` and `result` only from `transcript` on. */
const ToolLine = z.object({
  kind: z.literal('tool'),
  ...lineFields,
  turn: turn.optional(),
  id: name.describe('Id of the call'),
  name,
  state: z.enum(toolStates),
  from: time,
  to: time.nullable(),
  arguments: text.optional().describe('JSON as text, cut if it is long'),
  result: text.optional().describe('JSON as text, cut if it is long'),
  message: text.optional().describe('Message of the failure'),
});

/**
 * What a service has used since its last usage line. A bot may add up the usage of one turn. Tokens are as the vendor reports them:
 * with some vendors, `inputTokens` contains the cached ones.
 */
const UsageLine = z.object({
  kind: z.literal('usage'),
  ...lineFields,
  turn: turn.optional(),
  role: word,
  service: name,
  model: name.optional(),
  audioMs: count.optional(),
  characters: count.optional(),
  inputTokens: count.optional(),
  outputTokens: count.optional(),
  totalTokens: count.optional(),
  cacheReadTokens: count.optional(),
  cacheWriteTokens: count.optional(),
  reasoningTokens: count.optional(),
  inputAudioTokens: count.optional(),
  outputAudioTokens: count.optional(),
});

/** An error of a service or of the bot. `message` only from `transcript` on. */
const ErrorLine = z.object({
  kind: z.literal('error'),
  ...lineFields,
  turn: turn.optional(),
  service: name.optional(),
  category: word.describe('Such as authentication, rate_limit, timeout, network, invalid_request, internal or unknown'),
  exceptionType: name.optional(),
  message: text.optional(),
  fatal: z.boolean().optional().describe('Whether the bot ends because of the error'),
});

/**
 * Written only if the recording ended before the session, or could not begin. Usual reasons: `limit` (256 MiB), `disk-full`, `failed`,
 * `unavailable`. Only at the level `recording`.
 */
const RecordingLine = z.object({
  kind: z.literal('recording'),
  ...lineFields,
  to: time.describe('End of the recording'),
  reason: word,
});

/** The last line of the bot. `reason` is a word, such as `client-disconnected`, `end-frame`, `cancelled` or `failed`. */
const EndLine = z.object({
  kind: z.literal('end'),
  ...lineFields,
  reason: word.nullable(),
});

export const dropReasons = [
  'invalid',
  'line-too-long',
  'file-too-long',
  'file-replaced',
  'file-truncated',
  'recording-too-long',
  'recording-replaced',
  'recording-truncated',
] as const;
export type DropReason = (typeof dropReasons)[number];

/**
 * Written by the service, never by a bot: it left out lines, or a part of the recording, for this reason. `lines` and `bytes`
 * are the totals so far. `lines` is null if the number is unknown.
 */
const DroppedLine = z.object({
  kind: z.literal('dropped'),
  ...lineFields,
  reason: z.enum(dropReasons),
  lines: count.nullable(),
  bytes: z.int().min(0),
  message: text.describe('A sentence that says what the bot did wrong'),
});

const peaks = z
  .string()
  .max(4_096)
  .regex(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/);

/**
 * The amplitude of a part of the recording, for a waveform: one unsigned byte per `peakStepMs` and side, the highest amplitude in
 * this time, so that 255 is full scale. Only at the level `recording`.
 */
const PeaksLine = z.object({
  kind: z.literal('peaks'),
  ...lineFields,
  from: time,
  user: peaks.describe('Base64, one unsigned byte per 50 ms'),
  bot: peaks.describe('Base64, one unsigned byte per 50 ms'),
});

const botLines = [
  ServicesLine,
  SpeechLine,
  TurnLine,
  SaidLine,
  ResponseLine,
  ToolLine,
  UsageLine,
  RecordingLine,
  ErrorLine,
  PeaksLine,
  EndLine,
] as const;

/** A line that a bot may write. Unknown fields are removed. */
export const BotConversationLine = z.discriminatedUnion('kind', botLines);
export type BotConversationLine = z.infer<typeof BotConversationLine>;

/** A line of a stored conversation: those of the bot, and those of the service. */
export const ConversationLine = z
  .discriminatedUnion('kind', [...botLines, DroppedLine])
  .meta({ id: 'ConversationLine' });
export type ConversationLine = z.infer<typeof ConversationLine>;
export type ConversationLineOf<Kind extends ConversationLine['kind']> = Extract<ConversationLine, { kind: Kind }>;
