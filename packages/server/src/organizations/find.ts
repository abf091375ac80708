import type { Database } from '../store/tables.ts';

/** The organization with this name; null if there is none. */
export async function organizationByName(db: Database, name: string): Promise<{ id: string } | null> {
  const row = await db.selectFrom('organizations').select('id').where('name', '=', name).executeTakeFirst();
  return row ?? null;
}
