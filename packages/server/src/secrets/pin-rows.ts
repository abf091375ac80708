import type { Insertable, Selectable } from 'kysely';
import type { Database, SecretPinsTable } from '../store/tables.ts';

export type PinRow = Selectable<SecretPinsTable>;

export async function insertPins(db: Database, rows: readonly Insertable<SecretPinsTable>[]): Promise<void> {
  if (rows.length > 0) await db.insertInto('secret_pins').values(rows).execute();
}

export function pinRowsOf(db: Database, deploymentId: string): Promise<PinRow[]> {
  return db.selectFrom('secret_pins').selectAll().where('deployment_id', '=', deploymentId).execute();
}
