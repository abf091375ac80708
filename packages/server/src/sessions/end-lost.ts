import { endInstances } from '../instances/lifecycle.ts';
import type { Database } from '../store/tables.ts';
import { finishSession } from './finish.ts';
import { listOpenSessionRows } from './rows.ts';

/** Records `at` as the end of all instances of a region and of their sessions, because their processes no longer exist. */
export async function endLostSessions({ db }: { readonly db: Database }, region: string, at: Date): Promise<void> {
  // A waiting session has no instance, so it is not lost. It ends if its client does not connect in time.
  const lost = (await listOpenSessionRows(db, region)).filter(({ state }) => state !== 'waiting');
  for (const { id, transport } of lost) {
    const status = transport === 'websocket' ? 'SERVICE_INTERRUPTED' : 'HTTP_ERROR';
    await finishSession({ db }, id, status, at, []);
  }
  await endInstances(db, region, at);
}
