import { z } from 'zod';
import { operatorBase } from './paths.ts';

/** Answers GET with a backup. Not an operation, because the response is a tar archive. */
export const backupPath = `${operatorBase}/backup`;

/**
 * Entries of the archive: the first one and the last one. Between them are `database/<table>/<number>.json` with rows as JSON
 * arrays, and `files/...` of the data directory. A name that ends with `@<offset>` holds a part of a sparse file.
 */
export const backupEntries = { first: 'backup.json', last: 'end.json' } as const;

/** Where a data directory holds an unpacked backup: while it is unpacked, and until the service has restored it at a start. */
export const restoreDirectories = { unpacking: 'restore.partial', complete: 'restore' } as const;

/** The first entry. `migrations`: the names of the migrations of the database, in order. */
export const BackupManifest = z.object({
  format: z.literal(1),
  id: z.string(),
  createdAt: z.iso.datetime(),
  region: z.string(),
  migrations: z.array(z.string()),
});
export type BackupManifest = z.infer<typeof BackupManifest>;

/** The last entry. `sha256`: over all other entries, of each the name, a NUL and the content. */
export const BackupEnd = z.object({ sha256: z.string() });
export type BackupEnd = z.infer<typeof BackupEnd>;
