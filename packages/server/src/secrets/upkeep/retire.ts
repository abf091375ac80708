import { retireKeys } from './rows.ts';
import { tellOrganizations, type UpkeepAudit } from './upkeep-audit.ts';

/**
 * Removes former versions of organizations' keys for good, where nothing is sealed or stamped with them any more, and tells those
 * that lost some. Returns how many went.
 */
export function retireFormerKeys(context: UpkeepAudit): Promise<number> {
  return context.db.transaction().execute(async (db) => {
    const owners = await retireKeys(db);
    await tellOrganizations({ ...context, db }, owners, { action: 'vault.retire', result: 'done' });
    return owners.length;
  });
}
