import type { Database } from '../store/tables.ts';
import { archivePath } from './places.ts';
import { completeUploads } from './upload-rows.ts';

/** The complete archives of a region, relative to the data directory of its server. They never change. */
export async function completeArchives(db: Database, region: string): Promise<string[]> {
  return (await completeUploads(db, region)).map(archivePath);
}
