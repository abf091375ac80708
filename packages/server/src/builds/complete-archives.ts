import type { Database } from '../store/tables.ts';
import { archivePath } from './places.ts';
import { listCompleteUploads } from './upload-rows.ts';

/** Paths of the complete archives of a region, relative to the data directory. They never change. */
export async function completeArchives(db: Database, region: string): Promise<string[]> {
  return (await listCompleteUploads(db, region)).map(archivePath);
}
