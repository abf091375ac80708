import type { ConversationLine, ConversationLineOf, ResponseOrigin } from './lines.ts';
import type { ConversationNumbers, ConversationUsage, ResponseTimes } from './numbers.ts';

/** Limits of what the counter keeps in memory, so that no bot can make it large. What exceeds them is not counted. */
const maxToolCalls = 5_000;
const maxUsageEntries = 100;

const usageFields = [
  'audioMs',
  'characters',
  'inputTokens',
  'outputTokens',
  'totalTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'reasoningTokens',
  'inputAudioTokens',
  'outputAudioTokens',
] as const;

export type ConversationCounter = {
  readonly add: (line: ConversationLine) => void;
  readonly numbers: () => ConversationNumbers;
};

/** Computes the numbers of a conversation from its lines, in their order, one line after the other. */
export function createConversationCounter(): ConversationCounter {
  const turns = new Map<number, boolean>();
  const responses = new Map<number, { readonly ms: number; readonly measuredFrom: ResponseOrigin }>();
  const tools = new Map<string, ConversationLineOf<'tool'>['state']>();
  const usage = new Map<string, ConversationUsage>();
  const dropped = new Map<string, number>();
  let errors = 0;
  let endReason: string | null = null;

  const addUsage = (line: ConversationLineOf<'usage'>) => {
    const { role, service, model = null } = line;
    const key = JSON.stringify([role, service, model]);
    const known = usage.get(key) ?? createUsage(role, service, model);
    if (!usage.has(key) && usage.size >= maxUsageEntries) return;
    usage.set(key, addFields(known, line));
  };

  return {
    add: (line) => {
      switch (line.kind) {
        case 'turn':
          turns.set(line.turn, line.interrupted === true);
          break;
        case 'response':
          responses.set(line.turn, { ms: line.ms, measuredFrom: line.measuredFrom });
          break;
        case 'tool':
          if (tools.has(line.id) || tools.size < maxToolCalls) tools.set(line.id, line.state);
          break;
        case 'usage':
          addUsage(line);
          break;
        case 'error':
          errors += 1;
          break;
        case 'end':
          endReason = line.reason;
          break;
        case 'dropped':
          dropped.set(line.reason, line.lines ?? 0);
          break;
        case 'recording':
        case 'services':
        case 'speech':
        case 'said':
        case 'peaks':
          break;
      }
    },
    numbers: () => {
      const ordered = [...responses].sort(([a], [b]) => a - b).map(([, response]) => response);
      const from = (origin: ResponseOrigin) =>
        ordered.filter(({ measuredFrom }) => measuredFrom === origin).map(({ ms }) => ms);
      const states = [...tools.values()];
      return {
        turns: [...turns.keys()].filter((turn) => turn > 0).length,
        interruptions: [...turns.values()].filter(Boolean).length,
        responses: { silence: createResponseTimes(from('silence')), release: createResponseTimes(from('release')) },
        greetingMs: from('connect')[0] ?? null,
        tools: {
          calls: states.length,
          failed: states.filter((state) => state === 'failed' || state === 'timed-out').length,
        },
        errors,
        usage: [...usage.values()],
        endReason,
        droppedLines: [...dropped.values()].reduce((sum, lines) => sum + lines, 0),
      };
    },
  };
}

/** Returns null for an empty list. */
export function createResponseTimes(ms: readonly number[]): ResponseTimes | null {
  const sorted = [...ms].sort((a, b) => a - b);
  const percentile = (percent: number) => sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
  const [p50, p95] = [percentile(50), percentile(95)];
  return p50 === undefined || p95 === undefined ? null : { ms: [...ms], p50, p95 };
}

function createUsage(role: string, service: string, model: string | null): ConversationUsage {
  const zero = Object.fromEntries(usageFields.map((field) => [field, 0])) as Record<
    (typeof usageFields)[number],
    number
  >;
  return { role, service, model, ...zero };
}

function addFields(known: ConversationUsage, line: ConversationLineOf<'usage'>): ConversationUsage {
  const sums = usageFields.map((field) => [field, known[field] + (line[field] ?? 0)] as const);
  return { ...known, ...Object.fromEntries(sums) };
}
