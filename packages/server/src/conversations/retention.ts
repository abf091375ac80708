import { rm } from 'node:fs/promises';
import { removeOrphans } from '../store/remove-orphans.ts';
import { daysBefore } from '../store/retention.ts';
import { isUuid } from '../store/uuid.ts';
import type { ContentKind } from './content-file.ts';
import { getContentName, getContentPath } from './content-path.ts';
import { type ConversationRemovalContext, removeContent } from './delete.ts';
import { expireContent, findSessionsWithContent, listDeletedConversationsWithLog } from './rows.ts';

const batch = 500;

/** Days after which content is removed. 0 keeps it as long as its session. */
export type ConversationRetention = { readonly lineDays: number; readonly recordingDays: number };

/**
 * Removes the lines and recordings of conversations that began before these days. Keeps their numbers. Also finishes deletions that
 * were interrupted.
 */
export async function purgeConversations(
  context: ConversationRemovalContext,
  { lineDays, recordingDays }: ConversationRetention,
): Promise<void> {
  for (;;) {
    const unfinished = await listDeletedConversationsWithLog(context.db, context.host.id, batch);
    for (const session of unfinished) await removeContent(context, session);
    if (unfinished.length < batch) break;
  }
  await removeExpired(context, 'lines', lineDays);
  await removeExpired(context, 'recording', recordingDays);
}

async function removeExpired(context: ConversationRemovalContext, kind: ContentKind, days: number): Promise<void> {
  if (days === 0) return;
  const before = daysBefore(context.now(), days);
  for (;;) {
    // The key is deleted first: without it, a file that is left after a kill cannot be read.
    const expired = await expireContent(context.db, kind, { hostId: context.host.id, before, limit: batch });
    for (const session of expired)
      await rm(getContentPath(context.conversationsDirectory, session, kind), { force: true });
    if (expired.length < batch) return;
  }
}

/** Removes files without a key, for example after an interrupted deletion. */
export async function removeOrphanedContent(context: ConversationRemovalContext): Promise<void> {
  const idOf = (name: string) => name.replace(/\.recording$/, '');
  await removeOrphans(context.conversationsDirectory, {
    now: context.now(),
    matches: (name) => isUuid(idOf(name)),
    findKnown: async (names) => {
      const content = await findSessionsWithContent(context.db, [...new Set(names.map(idOf))]);
      return new Set(content.map(({ id, kind }) => getContentName(id, kind)));
    },
    remove: (path) => rm(path, { force: true }),
  });
}
