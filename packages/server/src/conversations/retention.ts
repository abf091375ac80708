import { rm } from 'node:fs/promises';
import { removeOrphans } from '../store/remove-orphans.ts';
import { removeInBatches, removeOlderThan } from '../store/retention.ts';
import { isUuid } from '../store/uuid.ts';
import type { ContentKind } from './content-file.ts';
import { getContentName, getContentPath } from './content-path.ts';
import { type ConversationRemovalContext, removeContent } from './delete.ts';
import { expireContent, findSessionsWithContent, listDeletedConversationsWithLog } from './rows.ts';

/** Days after which content is removed. 0 keeps it as long as its session. */
export type ConversationRetention = { readonly lineDays: number; readonly recordingDays: number };

/** Removes lines and recordings from before these days, but not their numbers. Finishes interrupted deletions. */
export async function purgeConversations(
  context: ConversationRemovalContext,
  { lineDays, recordingDays }: ConversationRetention,
): Promise<void> {
  await removeInBatches(async (limit) => {
    const unfinished = await listDeletedConversationsWithLog(context.db, context.host.id, limit);
    for (const session of unfinished) await removeContent(context, session);
    return unfinished.length;
  });
  await removeExpired(context, 'lines', lineDays);
  await removeExpired(context, 'recording', recordingDays);
}

async function removeExpired(context: ConversationRemovalContext, kind: ContentKind, days: number): Promise<void> {
  await removeOlderThan(context, days, async (db, before, limit) => {
    // The key is deleted first: without it, a file that is left after a kill cannot be read.
    const expired = await expireContent(db, kind, { hostId: context.host.id, before, limit });
    for (const session of expired)
      await rm(getContentPath(context.conversationsDirectory, session, kind), { force: true });
    return expired.length;
  });
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
