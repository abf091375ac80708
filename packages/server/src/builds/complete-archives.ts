import type { Database } from '../store/tables.ts';
import { getArchivePath } from './build-directories.ts';
import { listCompleteUploads } from './upload-rows.ts';

/** The complete archives of a region, relative to the data directory. A complete archive never changes. */
export async function listCompleteArchives(db: Database, region: string): Promise<string[]> {
  return (await listCompleteUploads(db, region)).map(getArchivePath);
}
