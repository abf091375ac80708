import { z } from 'zod';

const milliseconds = z.number().int().describe('Milliseconds');

/** Response times of one kind. Percentiles are computed by nearest rank. */
export const ResponseTimes = z
  .object({
    ms: z.array(milliseconds).describe('The response of each turn that has one, in the order of the turns'),
    p50: milliseconds,
    p95: milliseconds,
  })
  .meta({ id: 'ResponseTimes' });
export type ResponseTimes = z.infer<typeof ResponseTimes>;

const sum = z.number().int();

/** What one service has used with one model, in the units that the bot reported. */
export const ConversationUsage = z
  .object({
    role: z.string(),
    service: z.string(),
    model: z.string().nullable(),
    audioMs: sum,
    characters: sum,
    inputTokens: sum,
    outputTokens: sum,
    totalTokens: sum,
    cacheReadTokens: sum,
    cacheWriteTokens: sum,
    reasoningTokens: sum,
    inputAudioTokens: sum,
    outputAudioTokens: sum,
  })
  .meta({ id: 'ConversationUsage' });
export type ConversationUsage = z.infer<typeof ConversationUsage>;

/** The numbers of a conversation. They contain nothing that was said, and are kept as long as the session. */
export const ConversationNumbers = z
  .object({
    turns: z.number().int().describe('Turns of the user'),
    interruptions: z.number().int().describe('Turns in which the user began to speak while the bot was speaking'),
    responses: z
      .object({ silence: ResponseTimes.nullable(), release: ResponseTimes.nullable() })
      .describe(
        "Response times, by their beginning: the user's silence, or the release of the turn by the service that decides " +
          'the turns. The two kinds are not comparable. Null: none of this kind',
      ),
    greetingMs: milliseconds.nullable().describe('From the connected client to the greeting; null: no greeting'),
    tools: z.object({
      calls: z.number().int(),
      failed: z.number().int().describe('Calls that failed or timed out'),
    }),
    errors: z.number().int(),
    usage: z.array(ConversationUsage),
    endReason: z.string().nullable().describe('Why the conversation ended, as a word of the bot'),
    droppedLines: z.number().int().describe('Lines of the bot that the service left out, as far as they were counted'),
  })
  .meta({ id: 'ConversationNumbers' });
export type ConversationNumbers = z.infer<typeof ConversationNumbers>;
