import { type BackupManifest, backupEntryNames } from '@bothost/contract';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { listCompleteArchives } from '../builds/complete-archives.ts';
import { listContentPaths } from '../conversations/content-path.ts';
import { listStoredLogDirectories } from '../logs/directory.ts';
import { listAppliedMigrations } from '../store/migrate.ts';
import type { StoreContext } from '../store/store-context.ts';
import { iterateDirectoryEntries, iterateFileEntries } from './file-entries.ts';
import { iterateLogEntries, type LogBackupContext } from './log-entries.ts';
import { readTables } from './read-tables.ts';
import { createTextEntry, type TarEntry, writeTar } from './tar.ts';

export type BackupContext = LogBackupContext &
  Pick<StoreContext, 'db' | 'now' | 'newId'> & {
    readonly logger: Pick<Logger, 'info' | 'warn'>;
    readonly host: { readonly id: string; readonly region: string };
  };

/**
 * Streams a backup of the database and the data directory as a tar archive. All rows come from one database snapshot.
 * Files are read after the snapshot, so the encryption keys of all rows are included. A file that is removed after the
 * snapshot is omitted. Without `withConversations`, omits conversations, the logs of bots, and what bots wrote last.
 */
export async function* createBackup(
  context: BackupContext,
  { withConversations }: { readonly withConversations: boolean },
): AsyncGenerator<Buffer> {
  const createdAt = context.now();
  const manifest = {
    format: 1,
    id: context.newId(),
    createdAt: createdAt.toISOString(),
    region: context.host.region,
    withConversations,
  } as const;
  const snapshot = context.db.startTransaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  const db = await snapshot.execute();
  context.logger.info({ backupId: manifest.id }, 'backup started');
  try {
    // Disables the statement timeout, because the client may download slowly.
    await sql`select set_config('statement_timeout', '0', true),
      set_config('idle_in_transaction_session_timeout', '0', true)`.execute(db);
    yield* writeTar(entriesOf({ ...context, db }, manifest), createdAt);
    context.logger.info({ backupId: manifest.id }, 'backup completed');
  } finally {
    await db.rollback().execute();
  }
}

async function* entriesOf(
  context: BackupContext,
  manifest: Omit<BackupManifest, 'migrations'> & { readonly withConversations: boolean },
): AsyncGenerator<TarEntry> {
  const { db, host, dataDirectory } = context;
  yield createTextEntry(
    backupEntryNames.first,
    JSON.stringify({ ...manifest, migrations: await listAppliedMigrations(db) }),
  );
  for await (const { table, number, rows } of readTables(db, manifest.withConversations ? 'all' : 'without-bot-text'))
    yield createTextEntry(`database/${table}/${number}.json`, rows);
  for (const name of ['id', 'key']) yield* iterateFileEntries(dataDirectory, name);
  yield* iterateDirectoryEntries(dataDirectory, 'vault-keys');
  for (const path of await listCompleteArchives(db, host.region)) yield* iterateFileEntries(dataDirectory, path);
  if (!manifest.withConversations) return;
  for (const path of await listContentPaths(db, host.id)) yield* iterateFileEntries(dataDirectory, path);
  for (const directory of await listStoredLogDirectories(db, host.id)) yield* iterateLogEntries(context, directory);
}
