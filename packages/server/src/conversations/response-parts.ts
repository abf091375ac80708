import type { ConversationLineOf } from '@bothost/contract';

/** What took a part of a response, by the name that Pipecat's `UserBotLatencyObserver` gives it. Times in milliseconds. */
export type ResponseContribution = {
  readonly key: string;
  readonly service: string | null;
  readonly from: number;
  readonly to: number;
};

type ResponsePart = ConversationLineOf<'response'>['parts'][number];

/** Stages by Pipecat's key, as in `runtimes/python/src/bothost_shim/conversation/response_parts.py`. Other keys are stages. */
const stages: Readonly<Record<string, string>> = {
  endpointing_wait: 'endpointing',
  first_request: 'bot',
  llm_inference: 'llm',
  llm_tool_call: 'llm',
  awaiting_speakable_text: 'llm',
  function_handler: 'tool',
  sentence_aggregation: 'aggregation',
  speech_synthesis: 'tts',
  output_transport: 'output',
  waiting_for_user: 'user',
};
/** Pipecat's key for time that no single service accounts for. It can lie anywhere in a response. */
const rest = 'pipeline';

/** Divides a response into adjacent parts. Other time is `turn-detection` until the user's turn was released, then `pipeline`. */
export function divideResponse(
  contributions: readonly ResponseContribution[],
  response: { readonly from: number; readonly to: number; readonly releasedAt: number },
): ResponsePart[] {
  if (contributions.length === 0) return [];
  const parts: ResponsePart[] = [];
  let reached = response.from;
  const add = (stage: string, until: number, service: string | null = null) => {
    const to = Math.min(until, response.to);
    if (to <= reached) return;
    parts.push({ stage, ...(service === null ? {} : { service }), from: reached, ms: to - reached });
    reached = to;
  };
  const fillGap = (until: number) => {
    add('turn-detection', Math.min(until, response.releasedAt));
    add('pipeline', until);
  };
  for (const { key, service, from, to } of [...contributions].sort((a, b) => a.from - b.from)) {
    if (key === rest) continue;
    fillGap(from);
    add(stages[key] ?? key.replaceAll('_', '-'), to, service);
  }
  fillGap(response.to);
  return parts;
}
