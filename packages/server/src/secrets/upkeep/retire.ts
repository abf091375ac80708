import type { UpkeepContext } from './context.ts';
import { retireKeys } from './rows.ts';

/** Removes former versions of organizations' keys for good, where nothing is sealed or stamped with them any more. */
export function retireFormerKeys({ db }: Pick<UpkeepContext, 'db'>): Promise<number> {
  return db.transaction().execute(retireKeys);
}
