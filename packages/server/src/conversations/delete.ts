import { rm } from 'node:fs/promises';
import { createApiError } from '@bothost/contract';
import type { DirectoryTreeRemover } from '@bothost/runtime';
import { removeLastOutput } from '../agents/deployment-state.ts';
import { appendAudit } from '../audit/append.ts';
import { type Actor, organizationEventFields } from '../audit/chain.ts';
import { removeSessionLogs } from '../logs/remove-session-logs.ts';
import { removeEventTexts } from '../sessions/event-text.ts';
import type { StoreContext } from '../store/store-context.ts';
import { isUuid } from '../store/uuid.ts';
import { getContentPath } from './content-path.ts';
import { deleteConversationKeys, findConversationOfSession, lockSession } from './rows.ts';

export type ConversationRemovalContext = Pick<StoreContext, 'db' | 'now'> & {
  readonly host: { readonly id: string };
  readonly conversationsDirectory: string;
  readonly logsDirectory: string;
  readonly removeTree: DirectoryTreeRemover;
};

/**
 * Deletes the lines of a conversation, its recording, the log of the session and the last output in its events. Deletes the keys first:
 * if the server is killed before the files are removed, these cannot be read, and `purgeConversations` removes the log.
 *
 * @throws failure `not-found`, `session-running`
 */
export async function deleteSessionConversation(
  context: ConversationRemovalContext,
  scope: Actor & { readonly organizationId: string },
  { agentName, sessionId }: { readonly agentName: string; readonly sessionId: string },
): Promise<{ readonly sessionId: string; readonly state: 'deleted' }> {
  const session = await context.db.transaction().execute(async (db) => {
    const locked = isUuid(sessionId) && (await lockSession(db, sessionId));
    const found = locked ? await findConversationOfSession(db, scope.organizationId, agentName, sessionId) : undefined;
    if (found === undefined) throw createApiError('not-found');
    if (found.isOpen) throw createApiError('session-running');
    await deleteConversationKeys(db, { sessionId: found.id, hostId: context.host.id, at: context.now() });
    await removeEventTexts(db, found.id);
    await removeLastOutput(db, found.id);
    await appendAudit(db, scope.organizationId, {
      ...organizationEventFields,
      action: 'conversations.delete',
      object: found.id,
      keys: [found.agentName],
      actor: scope,
      at: context.now(),
      result: found.conversation === 'deleted' ? 'unchanged' : 'done',
    });
    return found;
  });
  await removeContent(context, session);
  return { sessionId: session.id, state: 'deleted' };
}

/** Removes the files of a session whose conversation was deleted. Idempotent. */
export async function removeContent(
  context: ConversationRemovalContext,
  session: { readonly id: string; readonly agentId: string },
): Promise<void> {
  for (const kind of ['lines', 'recording'] as const)
    await rm(getContentPath(context.conversationsDirectory, session, kind), { force: true });
  await removeSessionLogs(context, session.id);
}
