import { z } from 'zod';
import { editors, everyone } from '../authorization.ts';
import { linesPerConversationPage } from '../conversation/level.ts';
import { SessionConversation } from '../conversation/session-conversation.ts';
import { defineOperation } from '../operation.ts';
import { requestWithoutBody, Uuid } from './fields.ts';
import { SessionPath } from './sessions.ts';

/**
 * To follow a conversation while its session runs: request `nextCursor` with `wait`, and continue with the `nextCursor` of each
 * response until it is null.
 */
export const getSessionConversation = defineOperation({
  ...requestWithoutBody,
  name: 'getSessionConversation',
  summary: 'Read and follow the conversation of a session',
  tag: 'sessions',
  key: 'private',
  grantees: everyone,
  path: '/agents/{agentName}/sessions/{sessionId}/conversation',
  params: SessionPath,
  query: z.object({
    limit: z.coerce
      .number<number>()
      .int()
      .min(1)
      .max(linesPerConversationPage.maximum)
      .default(linesPerConversationPage.default),
    cursor: z.string().optional().describe('nextCursor of another response; without it, the first page'),
    wait: z.coerce
      .number<number>()
      .min(0)
      .max(linesPerConversationPage.waitSeconds)
      .default(0)
      .describe('While the session runs: seconds to wait for a line if there is none yet'),
  }),
  response: SessionConversation,
  errors: ['invalid-request', 'not-found'],
});

/**
 * Deletes what was said in a session, and its log, for good. Keeps the numbers. Does not change
 * backups that contain them. `session-running` until the log is stored: as long as the conversation is `live`, or, at the level `off`,
 * as long as the log of the session can be followed.
 */
export const deleteSessionConversation = defineOperation({
  ...requestWithoutBody,
  name: 'deleteSessionConversation',
  summary: 'Delete the conversation and the log of a session',
  audit: 'conversations.delete',
  tag: 'sessions',
  key: 'private',
  grantees: editors,
  method: 'DELETE',
  path: '/agents/{agentName}/sessions/{sessionId}/conversation',
  params: SessionPath,
  response: z.object({ sessionId: Uuid, state: z.literal('deleted') }),
  errors: ['not-found', 'session-running'],
});
