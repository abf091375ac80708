import type { ConversationLineOf, ResponseOrigin, ToolState } from '@bothost/contract';

/** Names of the stages of a response. A bot may report others. */
const stageNames: Readonly<Record<string, string>> = {
  endpointing: 'Wait for silence',
  transcription: 'Transcription',
  'turn-detection': 'Turn detection',
  llm: 'Model',
  tool: 'Tool',
  aggregation: 'Wait for a sentence',
  tts: 'Voice',
  output: 'Output',
  user: 'Wait for the caller',
  pipeline: 'Pipeline',
};

const endReasons: Readonly<Record<string, string>> = {
  'client-disconnected': 'The caller left',
  'end-frame': 'The bot ended it',
  cancelled: 'Canceled',
  failed: 'The bot failed',
};

/** What a response time is measured from. */
export const originNames: Readonly<Record<ResponseOrigin, string>> = {
  silence: "from the caller's silence",
  release: 'from the release of the turn',
  connect: 'from the connection',
};

export const toolStateNames: Readonly<Record<ToolState, string>> = {
  running: 'Running',
  completed: 'Completed',
  failed: 'Failed',
  'timed-out': 'Timed out',
  cancelled: 'Canceled',
};

export const getStageName = (stage: string) => stageNames[stage] ?? capitalize(stage);
export const getEndReasonName = (reason: string) => endReasons[reason] ?? capitalize(reason);
export const getTurnName = (number: number) => (number === 0 ? 'Greeting' : `Turn ${number}`);

/** Converts a word such as `rate_limit` to `Rate limit`. */
export function capitalize(word: string): string {
  const spaced = word.replaceAll(/[-_]/g, ' ');
  return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

const units = [
  ['audioMs', 'of audio', 1_000],
  ['characters', 'characters', 1],
  ['inputTokens', 'input tokens', 1],
  ['cacheReadTokens', 'cached', 1],
  ['cacheWriteTokens', 'cache writes', 1],
  ['outputTokens', 'output tokens', 1],
  ['reasoningTokens', 'reasoning', 1],
  ['inputAudioTokens', 'audio input', 1],
  ['outputAudioTokens', 'audio output', 1],
] as const;

/** Describes the amounts of a usage, such as `812 input tokens, 34 output tokens`. */
export function describeUsage(usage: Partial<Pick<ConversationLineOf<'usage'>, (typeof units)[number][0]>>): string {
  const amounts = units.flatMap(([field, unit, divisor]) => {
    const amount = usage[field] ?? 0;
    if (amount === 0) return [];
    return divisor === 1 ? [`${amount.toLocaleString('en')} ${unit}`] : [`${(amount / divisor).toFixed(1)} s ${unit}`];
  });
  return amounts.length === 0 ? 'Nothing' : amounts.join(', ');
}
