import type { VaultStatus } from '@bothost/contract';
import { countSecretSets } from '../rows.ts';
import { countWrappedKeysByRootKey } from '../vault/rewrap-keys.ts';
import { readRootKeyId } from '../vault/vault-state.ts';
import type { MaintenanceContext } from './context.ts';
import { listOrganizationsWithVaultData } from './organizations.ts';
import { countSecretValues, listSetsWithFormerKeys } from './reencrypt-rows.ts';
import { listTasks } from './task-rows.ts';

/** The status of the vault for the operator: its root keys, the number of items that still use former keys, and its tasks. */
export async function readVaultStatus(context: Pick<MaintenanceContext, 'db' | 'rootKeys'>): Promise<VaultStatus> {
  const { db, rootKeys } = context;
  const current = await readRootKeyId(db);
  const { keyIds } = await rootKeys.status();
  const wraps = await countWrappedKeysByRootKey(db);
  const ids = [...new Set([current, ...keyIds, ...wraps.keys()])];
  const shown = ids.map(async (id) => ({
    id,
    current: id === current,
    atHand: await rootKeys.has(id),
    wraps: wraps.get(id) ?? 0,
  }));
  return {
    rootKeys: await Promise.all(shown),
    organizations: (await listOrganizationsWithVaultData(db)).length,
    sets: await countSecretSets(db, null),
    values: await countSecretValues(db),
    behind: {
      keys: [...wraps].reduce((sum, [id, count]) => sum + (id === current ? 0 : count), 0),
      sets: (await listSetsWithFormerKeys(db, null)).length,
    },
    tasks: (await listTasks(db)).map((task) => ({
      task: task.task,
      state: task.state,
      done: task.done,
      total: task.total,
      startedAt: task.created_at.toISOString(),
      updatedAt: task.updated_at.toISOString(),
      endedAt: task.ended_at?.toISOString() ?? null,
      findings: task.findings,
    })),
  };
}
