import type { Database } from '../store/tables.ts';
import { listPinsOfSecretSet } from './pin-rows.ts';

/** Returns the revisions of a secret set that a deployment uses, or would use after a rollback. */
export function findPinnedRevisions(db: Database, setId: string): Promise<number[]> {
  return listPinsOfSecretSet(db, setId);
}
