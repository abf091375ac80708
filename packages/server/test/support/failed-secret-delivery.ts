import { openTestConnections } from './test-database.ts';
import type { TestServer } from './test-server.ts';

/** Marks the delivery of the newest revision of a secret set as failed, because no request can cause such a failure. */
export async function markSecretDeliveryFailed(service: TestServer, setName: string, error: string): Promise<void> {
  const db = await openTestConnections(service.database);
  await db
    .updateTable('secret_deliveries')
    .set({ state: 'failed', error })
    .where('set_id', 'in', db.selectFrom('secret_sets').select('id').where('name', '=', setName))
    .execute();
  await db.destroy();
}
