import { z } from 'zod';
import { operatorBasePath } from './paths.ts';

/** `GET` returns a backup. Not an operation of the API, because the response is a tar archive. */
export const backupUrlPath = `${operatorBasePath}/backup`;

/** Query parameter of `backupUrlPath`. With the value `true`, the backup contains conversations and the logs of bots. */
export const backupConversationsParameter = 'withConversations';

/**
 * Names of the first and the last entry of a backup archive. Between them are the tables' rows as JSON arrays
 * (`database/<table>/<number>.json`) and the files of the data directory (`files/...`). An entry whose name ends with `@<offset>`
 * is a part of a sparse file.
 */
export const backupEntryNames = { first: 'backup.json', last: 'end.json' } as const;

/**
 * Names of the directory for an unpacked backup in the data directory: `unpacking` while the archive is unpacked, then
 * `complete` until the service has restored the backup.
 */
export const pendingRestoreDirectoryNames = { unpacking: 'restore.partial', complete: 'restore' } as const;

/** The first entry of a backup archive. `migrations` lists the names of the database's migrations, in order. */
export const BackupManifest = z.object({
  format: z.literal(1),
  id: z.string(),
  createdAt: z.iso.datetime(),
  region: z.string(),
  migrations: z.array(z.string()),
  /** Whether the backup contains conversations and the logs of bots. Missing in backups of 0.1.0, which contain logs. */
  withConversations: z.boolean().optional(),
});
export type BackupManifest = z.infer<typeof BackupManifest>;

/**
 * The last entry of a backup archive. `sha256` is the hash over all other entries in their order. The name, a NUL and the content
 * of each entry are hashed.
 */
export const BackupChecksum = z.object({ sha256: z.string() });
export type BackupChecksum = z.infer<typeof BackupChecksum>;
