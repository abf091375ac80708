import { openDatabase } from '../../src/store/database.ts';
import type { Tables } from '../../src/store/tables.ts';
import type { TestServer } from './test-server.ts';

/** Marks the delivery of the newest revision of a secret set as failed, because no request can cause such a failure. */
export async function markSecretDeliveryFailed(service: TestServer, setName: string, error: string): Promise<void> {
  const logger = { warn: () => undefined };
  const db = await openDatabase<Tables>({ address: service.database.address, logger, maxConnections: 1 });
  await db
    .updateTable('secret_deliveries')
    .set({ state: 'failed', error })
    .where('set_id', 'in', db.selectFrom('secret_sets').select('id').where('name', '=', setName))
    .execute();
  await db.destroy();
}
