import type { Database } from '../store/tables.ts';
import { listPinnedSecretRevisions } from './pin-rows.ts';

/** Returns the revisions of a secret set that a deployment uses, or would use after a rollback. */
export function findPinnedSecretRevisions(db: Database, setId: string): Promise<number[]> {
  return listPinnedSecretRevisions(db, setId);
}
