import { z } from 'zod';
import { IsoDateTime, Uuid } from '../operations/fields.ts';
import { conversationLevels } from './level.ts';
import { ConversationLine } from './lines.ts';
import { ConversationNumbers } from './numbers.ts';
import { storageProblems } from './storage-problem.ts';

/**
 * What the service has of a conversation. `live`: the session is running, or its last lines or its log are being stored. `complete`: the bot
 * wrote its last line (`end`). `incomplete`: the session ended without it, for example because the bot was killed. `none`: the bot
 * wrote nothing, or the level is `off`. `expired`: the lines were removed after their retention period. `deleted`: a person deleted
 * them. `elsewhere`: the server of another region has them. `missing`: they are not on this server, for example after the restore of a
 * backup without conversations.
 */
export const conversationStates = [
  'live',
  'complete',
  'incomplete',
  'none',
  'expired',
  'deleted',
  'elsewhere',
  'missing',
] as const;
export type ConversationState = (typeof conversationStates)[number];

/**
 * Whether the session's recording can be played. `none`: there is none, for example because the level is lower. `available`: it can be
 * played, also while the session runs. `hidden`: the caller is a viewer. The others are as in `conversationStates`.
 */
const recordingStates = ['none', 'available', 'hidden', 'expired', 'deleted', 'elsewhere', 'missing'] as const;
export type RecordingState = (typeof recordingStates)[number];

/**
 * The conversation of a session, or a page of it. To follow a conversation, request `nextCursor` with `wait` until it is null. A
 * line may replace one of an earlier page (`getConversationLineKey`).
 */
export const SessionConversation = z
  .object({
    sessionId: Uuid,
    level: z.enum(conversationLevels).describe('The level with which the session ran'),
    state: z.enum(conversationStates),
    storageProblem: z
      .enum(storageProblems)
      .optional()
      .describe('Only while the service cannot store new lines of a running session: why'),
    startedAt: IsoDateTime.nullable().describe('Time 0 of the lines: when the bot received the session'),
    numbers: ConversationNumbers.nullable().describe('Null if the bot wrote nothing'),
    textHidden: z
      .enum(['level', 'role'])
      .nullable()
      .describe('Why lines contain no text: the level does not keep it, or the caller is a viewer. Null: they do'),
    recording: z.enum(recordingStates).describe('Whether the recording of the session can be played'),
    lines: z.array(ConversationLine),
    nextCursor: z
      .string()
      .nullable()
      .describe('Where the next page starts, also after an empty page; null: no lines are left and none will follow'),
  })
  .meta({ id: 'SessionConversation' });
export type SessionConversation = z.infer<typeof SessionConversation>;
