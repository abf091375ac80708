import type { VaultStatus } from '@bothost/contract';
import { countKeysByRootId } from '../vault/rekey.ts';
import { currentRootKeyId } from '../vault/vault-state.ts';
import type { UpkeepContext } from './context.ts';
import { countFormerKeys, countSealed, organizationsWithKeys } from './rows.ts';
import { isTaskTrue, taskChanged } from './task-proof.ts';
import { listTasks } from './task-rows.ts';

/** What the operator sees of the vault: its keys by their ids, how much waits for newer ones, and the work on it. */
export async function vaultStatus(context: Pick<UpkeepContext, 'db' | 'rootKeys'>): Promise<VaultStatus> {
  const { db, rootKeys } = context;
  const current = await currentRootKeyId(db);
  const { keyIds } = await rootKeys.status();
  const wraps = await countKeysByRootId(db);
  const ids = [...new Set([current, ...keyIds, ...wraps.keys()])];
  const sealed = await countSealed(db);
  const { former, referenced } = await countFormerKeys(db);
  const tasks = await listTasks(db);
  const believed = await Promise.all(tasks.map((task) => isTaskTrue(context, task)));
  const shown = ids.map(async (id) => ({
    id,
    current: id === current,
    atHand: await rootKeys.has(id),
    wraps: wraps.get(id) ?? 0,
  }));
  return {
    rootKeys: await Promise.all(shown),
    organizations: (await organizationsWithKeys(db)).length,
    sets: sealed.sets,
    values: sealed.values,
    behind: {
      keys: [...wraps].reduce((sum, [id, count]) => sum + (id === current ? 0 : count), 0),
      values: sealed.valuesBehind,
      // What deployments are pinned to belongs to their sets.
      sets: sealed.setsBehind + sealed.pinsBehind,
    },
    formerKeys: { inUse: referenced, retirable: former - referenced },
    tasks: tasks.map((task, index) => ({
      task: task.task,
      state: task.state,
      done: task.done,
      total: task.total,
      startedAt: task.created_at.toISOString(),
      updatedAt: task.updated_at.toISOString(),
      endedAt: task.ended_at?.toISOString() ?? null,
      findings: believed[index] === true ? task.findings : [taskChanged],
    })),
  };
}
