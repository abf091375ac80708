import { type BackupManifest, backupEntries } from '@bothost/contract';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { completeArchives } from '../builds/complete-archives.ts';
import { storedLogDirectories } from '../logs/stored-directories.ts';
import { appliedMigrations } from '../store/migrate.ts';
import type { Database } from '../store/tables.ts';
import { directoryEntries, fileEntries } from './file-entries.ts';
import { type LogsContext, logEntries } from './log-entries.ts';
import { readTables } from './read-tables.ts';
import { type Entry, textEntry, writeTar } from './tar.ts';

export type BackupContext = LogsContext & {
  readonly db: Database;
  readonly now: () => Date;
  readonly newId: () => string;
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly host: { readonly id: string; readonly region: string };
};

/**
 * Streams a backup of the database and the data directory as a tar archive. All rows come from one database snapshot.
 * Files are read after the snapshot, so the encryption keys of all rows are included. A file that is removed after the
 * snapshot is omitted.
 */
export async function* createBackup(context: BackupContext): AsyncGenerator<Buffer> {
  const createdAt = context.now();
  const manifest = {
    format: 1,
    id: context.newId(),
    createdAt: createdAt.toISOString(),
    region: context.host.region,
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

async function* entriesOf(context: BackupContext, manifest: Omit<BackupManifest, 'migrations'>): AsyncGenerator<Entry> {
  const { db, host, dataDirectory } = context;
  yield textEntry(backupEntries.first, JSON.stringify({ ...manifest, migrations: await appliedMigrations(db) }));
  for await (const { table, number, rows } of readTables(db)) yield textEntry(`database/${table}/${number}.json`, rows);
  for (const name of ['id', 'key']) yield* fileEntries(dataDirectory, name);
  yield* directoryEntries(dataDirectory, 'vault-keys');
  for (const path of await completeArchives(db, host.region)) yield* fileEntries(dataDirectory, path);
  for (const directory of await storedLogDirectories(db, host.id)) yield* logEntries(context, directory);
}
