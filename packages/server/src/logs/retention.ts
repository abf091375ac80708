import { readdir, rmdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { RemoveTree } from '@bothost/runtime';
import type { Database } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';
import { logDirectory } from './directory.ts';
import { deleteLog, knownLogs, logsBeyond, logsEndedBefore, surplusWithoutSession } from './rows.ts';

/** Removed in one go; more wait for the next. */
const batch = 500;
const dayMilliseconds = 86_400_000;
/** Of instances that never had a session, such as those of a bot that does not start: so many are kept of a deployment. */
const withoutSession = 20;

export type RetentionContext = {
  readonly db: Database;
  readonly now: () => Date;
  readonly host: { readonly id: string };
  readonly logsDirectory: string;
  readonly removeTree: RemoveTree;
};

/** `days` 0: for ever. `totalBytes` of all logs of this host. */
export type Retention = { readonly days: number; readonly totalBytes: number };

/**
 * Removes logs that are too old, too many without a session, or too much in all, the oldest first. Files go before their
 * row, so that a kill in between leaves a row of which the next round finishes the removal. Returns how many went.
 */
export async function purgeLogs(context: RetentionContext, retention: Retention): Promise<number> {
  const { db, host } = context;
  const before = new Date(context.now().getTime() - retention.days * dayMilliseconds);
  let removed = 0;
  if (retention.days > 0) removed += await removeAll(context, () => logsEndedBefore(db, host.id, before, batch));
  removed += await removeAll(context, () => surplusWithoutSession(db, host.id, withoutSession, batch));
  removed += await removeAll(context, () => logsBeyond(db, host.id, retention.totalBytes, batch));
  return removed;
}

async function removeAll(context: RetentionContext, find: () => ReturnType<typeof logsEndedBefore>): Promise<number> {
  let removed = 0;
  for (;;) {
    const found = await find();
    for (const log of found) {
      await context.removeTree(logDirectory(context.logsDirectory, log));
      await deleteLog(context.db, log.instance_id);
    }
    removed += found.length;
    if (found.length < batch) return removed;
  }
}

/** Removes files without a row, as a database that was put back leaves them. Young ones may be about to get theirs. */
export async function sweepLogs(context: RetentionContext): Promise<void> {
  const young = context.now().getTime() - dayMilliseconds;
  for (const agentId of await list(context.logsDirectory)) {
    const directory = join(context.logsDirectory, agentId);
    const present = (await list(directory)).filter(isUuid);
    for (let from = 0; from < present.length; from += batch) {
      const some = present.slice(from, from + batch);
      const known = await knownLogs(context.db, some);
      for (const instanceId of some) {
        const path = join(directory, instanceId);
        // Moving it here was the last change.
        const movedAt = (await stat(path).catch(() => null))?.ctimeMs ?? young;
        if (!known.has(instanceId) && movedAt < young) await context.removeTree(path);
      }
    }
    // Refused while something is in it.
    await rmdir(directory).catch(() => undefined);
  }
}

async function list(directory: string): Promise<readonly string[]> {
  return readdir(directory).catch(() => []);
}
