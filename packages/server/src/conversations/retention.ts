import { readdir, rm, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isUuid } from '../store/uuid.ts';
import { getContentPath } from './content-path.ts';
import { type ConversationRemovalContext, removeContent } from './delete.ts';
import { expireConversations, findSessionsWithContent, listDeletedConversationsWithLog } from './rows.ts';

const batch = 500;
const dayMs = 86_400_000;

/**
 * Removes the lines of conversations that began more than `days` ago, or none if `days` is 0. Keeps their numbers. Also finishes
 * deletions that were interrupted. Returns the number of conversations whose lines were removed.
 */
export async function purgeConversations(context: ConversationRemovalContext, days: number): Promise<number> {
  for (;;) {
    const unfinished = await listDeletedConversationsWithLog(context.db, context.host.id, batch);
    for (const session of unfinished) await removeContent(context, session);
    if (unfinished.length < batch) break;
  }
  if (days === 0) return 0;
  const before = new Date(context.now().getTime() - days * dayMs);
  let removed = 0;
  for (;;) {
    // The key is deleted first: without it, a file that is left after a kill cannot be read.
    const expired = await expireConversations(context.db, context.host.id, before, batch);
    for (const session of expired) await rm(getContentPath(context.conversationsDirectory, session), { force: true });
    removed += expired.length;
    if (expired.length < batch) return removed;
  }
}

/** Removes files without a key, for example after an interrupted deletion. Keeps files of the last day. */
export async function removeOrphanedContent(context: ConversationRemovalContext): Promise<void> {
  const recent = context.now().getTime() - dayMs;
  for (const agentId of await list(context.conversationsDirectory)) {
    const directory = join(context.conversationsDirectory, agentId);
    const present = (await list(directory)).filter(isUuid);
    for (let from = 0; from < present.length; from += batch) {
      const ids = present.slice(from, from + batch);
      const known = await findSessionsWithContent(context.db, ids);
      for (const id of ids) {
        const path = join(directory, id);
        const changedAt = (await stat(path).catch(() => null))?.mtimeMs ?? recent;
        if (!known.has(id) && changedAt < recent) await rm(path, { force: true });
      }
    }
    await rmdir(directory).catch(() => undefined);
  }
}

async function list(directory: string): Promise<readonly string[]> {
  return readdir(directory).catch(() => []);
}
