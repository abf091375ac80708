import type { Database } from '../store/tables.ts';
import { deleteDeliveriesBefore, deleteWebhooksOfDeletedOrganizations } from './rows.ts';

const batch = 1_000;
const dayMs = 86_400_000;

/** Deletes the records of deliveries after `days`, or none if `days` is 0, and the webhooks of deleted organizations. */
export async function purgeWebhookDeliveries(
  context: { readonly db: Database; readonly now: () => Date },
  days: number,
): Promise<void> {
  await deleteWebhooksOfDeletedOrganizations(context.db);
  if (days === 0) return;
  const before = new Date(context.now().getTime() - days * dayMs);
  while ((await deleteDeliveriesBefore(context.db, before, batch)) === batch);
}
