import type { Database } from '../store/tables.ts';
import { deleteRefusedCallsBefore } from './rows.ts';

/** Number of rows that one statement deletes. It is limited, so that no lock is held for long. */
const batch = 1_000;
const dayMs = 86_400_000;

/** Deletes refused calls that are older than `days`, like the logs of the agents. Deletes none if `days` is 0. */
export async function purgeRefusedCalls(
  context: { readonly db: Database; readonly now: () => Date },
  days: number,
): Promise<void> {
  if (days === 0) return;
  const before = new Date(context.now().getTime() - days * dayMs);
  while ((await deleteRefusedCallsBefore(context.db, before, batch)) === batch);
}
