import { type ConversationLine, type ConversationLineOf, peakStepMs } from '@bothost/contract';

const questions = [
  'What is the weather in Lisbon tomorrow?',
  'And is it warm enough to swim?',
  'Can you book a table for two at eight?',
  'No, wait. Make that nine, please, because my train is late and I do not want to hurry through the whole city.',
  'Thanks. What is the capital of Portugal?',
];
const answers = [
  'Tomorrow in Lisbon it will be sunny, with up to 27 degrees and a light wind from the Atlantic.',
  'The water has 19 degrees, which is fresh, but many people swim.',
  'I booked a table for two at eight. You will get a message with the address.',
  'Of course. Your table is now at nine.',
  'The capital of',
];

const services = [
  { name: 'DeepgramSTTService#0', role: 'stt', vendor: 'deepgram', model: 'nova-3' },
  { name: 'OpenAILLMService#0', role: 'llm', vendor: 'openai', model: 'gpt-4.1-mini' },
  { name: 'CartesiaTTSService#0', role: 'tts', vendor: 'cartesia', model: 'sonic-3' },
];
const [stt, llm, tts] = services.map(({ name }) => name);

type ConversationOptions = {
  /** Turns of the user, after the greeting. */
  readonly turns: number;
  /** Length of a turn in milliseconds. */
  readonly turnMs?: number;
  /** Whether the lines contain what was said. */
  readonly hasText?: boolean;
  /** Whether the last turn and the conversation have ended. */
  readonly isEnded?: boolean;
  readonly measuredFrom?: 'silence' | 'release';
  /** Whether the lines contain the waveform of a recording. */
  readonly hasPeaks?: boolean;
};

/**
 * Creates the lines of a conversation as a bot writes them. Every third turn calls a tool, every fifth one is interrupted, and in
 * every seventh a service fails.
 */
export function createConversationLines(options: ConversationOptions): readonly ConversationLine[] {
  const { turns, turnMs = 6_000, hasText = true, isEnded = true, measuredFrom = 'silence', hasPeaks = false } = options;
  const lines: ConversationLine[] = [
    {
      kind: 'services',
      at: 0,
      writer: 'test 1.0',
      level: hasText ? 'transcript' : 'timings',
      logLevel: 'INFO',
      services,
    },
    { kind: 'turn', at: 100, turn: 0, from: 100, to: 2_400 },
    {
      kind: 'response',
      at: 500,
      turn: 0,
      from: 100,
      ms: 400,
      measuredFrom: 'connect',
      parts: [{ stage: 'tts', from: 100, ms: 400, ...(tts === undefined ? {} : { service: tts }) }],
    },
    { kind: 'speech', at: 2_400, side: 'bot', from: 500, to: 2_400, turn: 0 },
  ];
  if (hasText) {
    lines.push({ kind: 'said', at: 2_400, turn: 0, side: 'bot', text: 'Hello! How can I help?', from: 500, to: 2_400 });
  }
  for (let turn = 1; turn <= turns; turn += 1) {
    lines.push(...createTurnLines(turn, 2_500 + (turn - 1) * turnMs, options, turn < turns || isEnded));
  }
  if (hasPeaks) lines.push(...createPeaks(lines, 2_500 + turns * turnMs));
  if (isEnded) lines.push({ kind: 'end', at: 2_500 + turns * turnMs, reason: 'client-disconnected' });
  return lines.map((line) => (line.kind === 'response' && line.turn > 0 ? { ...line, measuredFrom } : line));
}

/** Creates the waveform of what both sides say in lines, for a recording of a length in milliseconds. */
function createPeaks(lines: readonly ConversationLine[], lengthMs: number): readonly ConversationLineOf<'peaks'>[] {
  const speech = lines.filter((line) => line.kind === 'speech');
  const amplitude = (side: 'user' | 'bot', at: number) => {
    const isSpeaking = speech.some((line) => line.side === side && line.from <= at && at < (line.to ?? lengthMs));
    return isSpeaking ? Math.round(40 + 130 * Math.abs(Math.sin(at / 190) * Math.cos(at / 830))) : 1;
  };
  const lineMs = 2_000;
  return Array.from({ length: Math.ceil(lengthMs / lineMs) }, (_, index) => {
    const from = index * lineMs;
    const steps = Array.from({ length: lineMs / peakStepMs }, (__, step) => from + step * peakStepMs);
    const encode = (side: 'user' | 'bot') => btoa(String.fromCharCode(...steps.map((at) => amplitude(side, at))));
    return { kind: 'peaks', at: from + lineMs, from, user: encode('user'), bot: encode('bot') };
  });
}

function createTurnLines(
  turn: number,
  from: number,
  { turnMs = 6_000, hasText = true }: ConversationOptions,
  isEnded: boolean,
): readonly ConversationLine[] {
  const silent = from + turnMs * 0.3;
  const hasTool = turn % 3 === 0;
  const interrupted = turn % 5 === 0;
  const stages = [
    { stage: 'endpointing', from: silent, ms: 200 },
    { stage: 'transcription', service: stt, ms: 90 + (turn % 4) * 35 },
    { stage: 'llm', service: llm, ms: 280 + (turn % 7) * 60 },
    ...(hasTool ? [{ stage: 'tool', service: 'get_weather', ms: 240 }] : []),
    { stage: 'tts', service: tts, ms: 130 + (turn % 5) * 20 },
    { stage: 'output', ms: 25 },
  ];
  let at = silent;
  const parts = stages.map(({ stage, service, ms }) => {
    const part = { stage, from: at, ms, ...(service === undefined ? {} : { service }) };
    at += ms;
    return part;
  });
  const end = from + turnMs - 200;
  const lines: ConversationLine[] = [
    { kind: 'turn', at: from, turn, from, to: null },
    { kind: 'speech', at: silent, side: 'user', from, to: silent, turn },
    { kind: 'turn', at: silent + 200, turn, from, released: silent + 200, to: null },
  ];
  if (hasText) {
    const text = questions[turn % questions.length] ?? '';
    lines.push({ kind: 'said', at: silent, turn, side: 'user', text, from, to: silent });
  }
  if (hasTool) {
    const tool = { kind: 'tool', turn, id: `call-${turn}`, name: 'get_weather', from: silent + 500, at } as const;
    const texts = hasText ? { arguments: '{"city":"Lisbon"}', result: '{"degrees":27}' } : {};
    lines.push({ ...tool, state: turn % 2 === 0 ? 'timed-out' : 'completed', to: silent + 740, ...texts });
  }
  if (turn % 7 === 0 && llm !== undefined) {
    const message = hasText ? { message: 'The server had an error while processing your request.' } : {};
    lines.push({
      kind: 'error',
      at,
      turn,
      service: llm,
      category: 'rate_limit',
      exceptionType: 'RateLimitError',
      ...message,
    });
  }
  lines.push({ kind: 'response', at, turn, from: silent, ms: at - silent, measuredFrom: 'silence', parts });
  lines.push({ kind: 'speech', at: end, side: 'bot', from: at, to: isEnded ? end : null, turn });
  if (llm !== undefined && tts !== undefined) {
    const tokens = { inputTokens: 400 + 30 * turn, outputTokens: 24 };
    lines.push({ kind: 'usage', at, turn, role: 'llm', service: llm, model: 'gpt-4.1-mini', ...tokens });
    lines.push({ kind: 'usage', at, turn, role: 'tts', service: tts, model: 'sonic-3', characters: 92 });
  }
  if (!isEnded) return lines;
  if (hasText) {
    const text = answers[turn % answers.length] ?? '';
    lines.push({ kind: 'said', at: end, turn, side: 'bot', text, from: at, to: end, interrupted });
  }
  lines.push({ kind: 'turn', at: end, turn, from, released: silent + 200, to: end, interrupted });
  return lines;
}
