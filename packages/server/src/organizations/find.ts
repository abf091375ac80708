import type { Database } from '../store/tables.ts';

export async function organizationByName(db: Database, name: string): Promise<{ id: string } | null> {
  const row = await db.selectFrom('organizations').select('id').where('name', '=', name).executeTakeFirst();
  return row ?? null;
}
