import type { PreparedProject, Runtime } from '@bothost/runtime';
import { removeInBatches, removeOlderThan } from '../store/retention.ts';
import type { StoreContext } from '../store/store-context.ts';
import type { Database } from '../store/tables.ts';
import { isUuid } from '../store/uuid.ts';
import type { BuildDirectories } from './build-directories.ts';
import { deleteBuild, listBuildsInRemoval, lockUnusedBuilds, markBuildsForRemoval, markBuildsUsed } from './rows.ts';
import { deleteUploads, findExistingUploadIds } from './upload-rows.ts';

export type BuildRetentionContext = Pick<StoreContext, 'db' | 'now' | 'logger'> & {
  readonly host: { readonly region: string };
  readonly directories: BuildDirectories;
  readonly runtime: Pick<Runtime, 'discard'>;
};

export type BuildRetention = {
  /** Unused builds are removed after this number of days; 0 keeps them forever. */
  readonly buildDays: number;
  /** Incomplete uploads and uploads without a build are removed after this number of hours. */
  readonly uploadHours: number;
};

/** Returns which of the given builds are in use. Runs in the transaction that marks the unused builds for removal. */
export type BuildUseLookup = (db: Database, buildIds: readonly string[]) => Promise<ReadonlySet<string>>;

const hourMs = 3_600_000;
/** Number of ids per query. */
const idsAtOnce = 100;

/** Removes unused builds, and old uploads without a build. After a kill, the next run finishes the removal. */
export async function removeUnusedBuilds(
  context: BuildRetentionContext,
  retention: BuildRetention,
  inUse: BuildUseLookup,
): Promise<void> {
  const { db, host } = context;
  const now = context.now();
  await removeOlderThan(context, retention.buildDays, (_, before, limit) =>
    db.transaction().execute(async (transaction) => {
      const ids = await lockUnusedBuilds(transaction, host.region, before, limit);
      const used = await inUse(transaction, ids);
      const unused = ids.filter((id) => !used.has(id));
      await markBuildsUsed(transaction, [...used], now);
      await markBuildsForRemoval(transaction, unused);
      return ids.length;
    }),
  );
  for (const { id, prepared } of await listBuildsInRemoval(db, host.region)) {
    try {
      if (prepared !== null) await context.runtime.discard(prepared as PreparedProject);
      await deleteBuild(db, id);
      context.logger.info({ buildId: id }, 'build removed');
    } catch (error) {
      // Continue with the other builds if one cannot be removed.
      context.logger.error({ err: error, buildId: id }, 'build could not be removed');
    }
  }
  const before = new Date(now.getTime() - retention.uploadHours * hourMs);
  await removeInBatches((limit) => deleteUploads(db, host.region, before, limit));
  await removeOrphans(context);
}

/** Removes orphans, which have no row: the row of an upload is created before its archive. */
async function removeOrphans({ db, directories }: BuildRetentionContext): Promise<void> {
  const ids = (await directories.uploadIds()).filter(isUuid);
  for (let from = 0; from < ids.length; from += idsAtOnce) {
    const some = ids.slice(from, from + idsAtOnce);
    const known = await findExistingUploadIds(db, some);
    for (const id of some) if (!known.has(id)) await directories.removeTree(directories.archive(id));
  }
}
