import type { Database } from '../store/tables.ts';
import { pinsOfSet } from './pin-rows.ts';

/** The revisions of a secret set that a deployment runs with, or would after a rollback. */
export function pinnedRevisions(db: Database, setId: string): Promise<number[]> {
  return pinsOfSet(db, setId);
}
