import { removeOlderThan } from '../store/retention.ts';
import type { Database } from '../store/tables.ts';
import { deleteDeliveriesBefore, deleteWebhooksOfDeletedOrganizations } from './rows.ts';

/** Deletes the records of deliveries after `days`, or none if `days` is 0, and the webhooks of deleted organizations. */
export async function purgeWebhookDeliveries(context: { db: Database; now: () => Date }, days: number): Promise<void> {
  await deleteWebhooksOfDeletedOrganizations(context.db);
  await removeOlderThan(context, days, deleteDeliveriesBefore);
}
