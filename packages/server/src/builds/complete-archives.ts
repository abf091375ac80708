import type { Database } from '../store/tables.ts';
import { archivePath } from './places.ts';
import { completeUploads } from './upload-rows.ts';

/**
 * The paths of all complete archives of a region, relative to the data directory of the region's server. Complete
 * archives never change.
 */
export async function completeArchives(db: Database, region: string): Promise<string[]> {
  return (await completeUploads(db, region)).map(archivePath);
}
